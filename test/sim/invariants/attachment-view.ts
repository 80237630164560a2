import { resource } from "../../../src/api/names.ts";
import { at, isJson, type StoredObject } from "../api/json.ts";
import type { SimApiServer } from "../api/sim-api-server.ts";

/** A VolumeAttachment, as far as it matters here. */
export interface AttachmentView {
  readonly name: string;
  readonly uid: string;
  readonly attacher: string;
  readonly node: string;
  /** What the driver calls the volume; "" if its PersistentVolume is not there. */
  readonly handle: string;
  readonly attached: boolean;
  readonly deleting: boolean;
  readonly finalizers: readonly string[];
  readonly annotations: { readonly [key: string]: string };
}

export function attachmentView(server: SimApiServer, name: string): AttachmentView | undefined {
  const object = server.get(resource.volumeAttachments, name);
  return object && viewOf(server, object);
}

export function attachmentViews(server: SimApiServer): AttachmentView[] {
  return server.list(resource.volumeAttachments).map((object) => viewOf(server, object));
}

export function viewOf(server: SimApiServer, object: StoredObject): AttachmentView {
  const { metadata } = object;
  const source = at(object, "spec", "source");
  const inline = at(source, "inlineVolumeSpec", "csi");
  const volume = server.get(resource.persistentVolumes, text(source, "persistentVolumeName"));
  return {
    name: metadata.name,
    uid: metadata.uid ?? "",
    attacher: text(at(object, "spec"), "attacher"),
    node: text(at(object, "spec"), "nodeName"),
    handle: text(inline ?? at(volume, "spec", "csi"), "volumeHandle"),
    attached: isJson(object["status"]) && object["status"]["attached"] === true,
    deleting: metadata.deletionTimestamp !== undefined,
    finalizers: metadata.finalizers ?? [],
    annotations: metadata.annotations ?? {},
  };
}

function text(value: unknown, key: string): string {
  const found = isJson(value) ? value[key] : undefined;
  return typeof found === "string" ? found : "";
}
