import type { ObjectStore } from "../../kube/watch/object-store.ts";
import type { Attachment } from "../model/storage-objects.ts";
import type { VolumeID, VolumeKey } from "../model/volume-key.ts";
import { createGroups, createObjectGroups, type ObjectGroups } from "../util/groups.ts";

/** VolumeAttachments by what they are of: their volume, their PersistentVolume, their driver on a node, their node. */
export class AttachmentIndex {
  readonly #byKey: ObjectGroups<Attachment, VolumeKey>;
  readonly #byVolume: ObjectGroups<Attachment>;
  readonly #byNode: ObjectGroups<Attachment>;
  readonly #byPlace = createGroups();

  constructor(attachments: Pick<ObjectStore<Attachment>, "get">) {
    this.#byKey = createObjectGroups(attachments);
    this.#byVolume = createObjectGroups(attachments);
    this.#byNode = createObjectGroups(attachments);
  }

  /** @param key of the volume that it is of now */
  put({ metadata: { name }, attacher, nodeName, persistentVolumeName }: Attachment, key: VolumeKey): void {
    this.#byVolume.put(name, persistentVolumeName);
    this.#byPlace.put(name, placeKey(attacher, nodeName));
    this.#byNode.put(name, nodeName);
    this.#byKey.put(name, key);
  }

  /** @returns the key of the volume that it was of */
  remove({ metadata: { name } }: Attachment): VolumeKey | undefined {
    this.#byVolume.remove(name);
    this.#byPlace.remove(name);
    this.#byNode.remove(name);
    return this.#byKey.remove(name);
  }

  ofKey(key: VolumeKey): Attachment[] {
    return this.#byKey.of(key);
  }

  ofPersistentVolume(name: string): Attachment[] {
    return this.#byVolume.of(name);
  }

  onNode(node: string): Attachment[] {
    return this.#byNode.of(node);
  }

  /** Names, also of those that are not in the store any more. */
  namesOn({ driver }: Pick<VolumeID, "driver">, node: string): string[] {
    return this.#byPlace.of(placeKey(driver, node));
  }
}

function placeKey(driver: string, node: string): string {
  return `${driver}^${node}`;
}
