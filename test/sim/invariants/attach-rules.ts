import { hash } from "node:crypto";
import type { KubeObject } from "../../../src/api/meta.ts";
import { allowedSetLabelPrefix, resource, setLabelPrefix } from "../../../src/api/names.ts";
import type { NodeVolumeIntent } from "../../../src/api/types.gen.ts";
import type { Change } from "../api/collection.ts";
import { at } from "../api/json.ts";
import type { SimApiServer } from "../api/sim-api-server.ts";
import type { GoingMount, NodeSideRules } from "../csi/node-side.ts";
import type { Storage, StoredVolume } from "../csi/storage.ts";
import { pointOf } from "../kernel/lookup.ts";
import type { Superblock } from "../kernel/superblock.ts";
import { layout, type Machine } from "../machine.ts";
import { type AttachmentView, attachmentViews, viewOf } from "./attachment-view.ts";
import type { JournalView } from "./journal-view.ts";
import type { Report } from "./violation.ts";

export interface AttachRulesDeps {
  readonly report: Report;
  readonly storage: Storage;
  readonly journal: JournalView;
  server(): SimApiServer;
  machine(node: string): Machine | undefined;
  /**
   * Nodes on which something of the volume is set up, by the kernel's evidence, or may still be by a call that is under
   * way.
   */
  nodesThatMayHold(handle: string): readonly string[];
}

const grantOfAttachment = "nodevolume.dev/grant";

/**
 * Where a CSI volume may be, and when it may be taken away (safety rules 1, 2, 10 and 12). The truth is
 * what the kernels, the drivers and the storage system know; nothing of the product is asked.
 */
export class AttachRules implements NodeSideRules {
  readonly #deps: AttachRulesDeps;
  /** VolumeAttachments of others that came while one of ours was there: nobody of ours has let them. */
  readonly #slippedIn = new Set<string>();
  /** What somebody else wants detached, whatever is mounted, by node and handle: until it is attached anew. */
  readonly #byOthers = new Set<string>();

  constructor(deps: AttachRulesDeps) {
    this.#deps = deps;
  }

  settingUp({ handle, singleNode }: StoredVolume, node: string, path: string): void {
    const { report } = this.#deps;
    if (!this.#isOnRecord(node, path)) report(`journal before effect: nothing says that ${handle} goes to ${path}`);
    if (!singleNode || !path.startsWith(`${layout.csiDir}/`)) return; // what kubelets do to each other is theirs
    const other = this.#deps.nodesThatMayHold(handle).find((name) => name !== node);
    if (other !== undefined) report(`${handle} is set up on ${node} while ${other} may have it`);
    for (const { name, uid, node: attachedTo } of this.#attachmentsOf(handle)) {
      if (attachedTo === node || this.#slippedIn.has(uid)) continue;
      report(`${handle} is set up on ${node} while ${name} attaches it to ${attachedTo}`);
    }
  }

  takingDown({ handle }: StoredVolume, filesystem: Superblock, { node, path, what }: GoingMount): void {
    const machine = this.#deps.machine(node);
    if (machine === undefined) return;
    const points = [...machine.kernel.host.mounts]
      .filter(({ superblock }) => superblock === filesystem)
      .map((mount) => pointOf(mount) ?? "");
    const targets = points.filter((point) => point.startsWith(`${layout.prefix}/`));
    if (what === "published") {
      const target = targets.find((point) => path.endsWith(`/${keyOf(point)}`));
      if (target !== undefined) this.#deps.report(`L3: ${handle} was unpublished while ${target} shows it`);
      return;
    }
    const published = points.find((point) => point.startsWith(`${layout.csiDir}/`) && point !== path) ?? targets[0];
    if (published !== undefined) this.#deps.report(`L3: ${handle} was unstaged while ${published} shows it`);
  }

  /** The driver's controller side is about to take the volume away from a node (ControllerUnpublishVolume). */
  detaching(handle: string, node: string): void {
    if (!this.#mayHold(handle, node) || this.#byOthers.has(`${node} ${handle}`)) return;
    this.#deps.report(`${handle} is detached from ${node}, which may have it mounted`);
  }

  /** A VolumeAttachment was written. */
  attachmentChanged({ before, object, type }: Change, actor: string): void {
    const now = viewOf(this.#deps.server(), object);
    const { name, node, handle, uid } = now;
    if (type === "ADDED" && !name.startsWith("nvi-")) {
      const ours = this.#attachmentsOf(handle).some((one) => one.name.startsWith("nvi-"));
      if (ours) this.#slippedIn.add(uid);
    }
    if (type === "ADDED") this.#byOthers.delete(`${node} ${handle}`);
    if (actor === "person" && now.deleting) this.#byOthers.add(`${node} ${handle}`);
    if (!actor.startsWith("controller-")) return;
    const { report } = this.#deps;
    if (!name.startsWith("nvi-")) report(`${actor} wrote to ${name}, which is not ours`);
    const asked = (type === "DELETED" || now.deleting) && before?.metadata.deletionTimestamp === undefined;
    if (asked && this.#mayHold(handle, node)) report(`${actor} has ${handle} detached from ${node}, which may have it`);
    if (type !== "ADDED" || this.#deps.storage.volumes.get(handle)?.singleNode !== true) return;
    const other = this.#deps.nodesThatMayHold(handle).find((holder) => holder !== node);
    if (other !== undefined) report(`${actor} has ${handle} attached to ${node} while ${other} may have it`);
  }

  /** An intent was written: a grant is what the agent goes by. */
  intentChanged({ before, object }: Change, actor: string): void {
    const { metadata, spec } = object as unknown as NodeVolumeIntent; // the collection holds nothing else
    const { grant } = spec;
    const was = (before as NodeVolumeIntent | undefined)?.spec.grant;
    if (was !== undefined || grant?.csi === undefined || !actor.startsWith("controller-")) return;
    const { report, storage } = this.#deps;
    const { volumeHandle } = grant.csi;
    const volume = storage.volumes.get(volumeHandle);
    if (volume?.singleNode === true) {
      const other = this.#granted(volumeHandle).find((intent) => intent.metadata.uid !== metadata.uid);
      if (other !== undefined) report(`${metadata.name} is granted ${volumeHandle}, which ${other.metadata.name} has`);
    }
    const denied = deniedSet(this.#deps.server(), object, volumeHandle);
    if (denied !== undefined) report(`consent: ${metadata.name} is granted ${volumeHandle}, and ${denied}`);
    const pod = podThatUses(this.#deps.server(), volumeHandle);
    if (pod !== undefined) report(`rule 14: ${metadata.name} is granted ${volumeHandle}, which pod ${pod} uses`);
    const theirs = this.#attachmentsOf(volumeHandle).find(({ name }) => !name.startsWith("nvi-"));
    if (theirs !== undefined) report(`rule 10: ${metadata.name} is granted ${volumeHandle} beside ${theirs.name}`);
    if (volume?.driver.attach !== true) return;
    const found = this.#attachmentsOf(volumeHandle).find(({ name }) => name === grant.volumeAttachment?.name);
    if (found === undefined || found.uid !== grant.volumeAttachment?.uid || found.node !== spec.nodeName) {
      report(`${metadata.name} is granted ${volumeHandle} on an attachment that is not there`);
    } else if (found.annotations[grantOfAttachment] !== grant.id) {
      report(`${metadata.name} is granted ${volumeHandle}, and ${found.name} does not say so`);
    }
  }

  /** Also when a call takes effect late: until none can, its volume is not forgotten (safety rule 8). */
  #isOnRecord(node: string, path: string): boolean {
    const machine = this.#deps.machine(node);
    if (machine === undefined || !path.startsWith(`${layout.csiDir}/`) || machine.journal.doubtful) return true;
    return [...this.#deps.journal.records(machine).values()].some(
      ({ stage, targets }) => stage?.path === path || targets.some(({ published }) => published?.path === path),
    );
  }

  #granted(handle: string): NodeVolumeIntent[] {
    const intents = this.#deps.server().list(resource.intents) as unknown as NodeVolumeIntent[];
    return intents.filter(({ spec }) => spec.grant?.csi?.volumeHandle === handle);
  }

  #mayHold(handle: string, node: string): boolean {
    return this.#deps.nodesThatMayHold(handle).includes(node);
  }

  #attachmentsOf(handle: string): AttachmentView[] {
    return attachmentViews(this.#deps.server()).filter((attachment) => attachment.handle === handle);
  }
}

/**
 * A claim of the volume that does not allow a set of the intent, if there is one. Stories change consent between grants
 * only.
 */
function deniedSet(server: SimApiServer, intent: KubeObject, handle: string): string | undefined {
  const mounts = (at(intent, "spec", "mounts") ?? []) as readonly { readonly requester: { readonly name: string } }[];
  const labels = Object.keys(intent.metadata.labels ?? {}).filter((key) => key.startsWith(setLabelPrefix));
  const sets = [
    ...mounts.map(({ requester }) => requester.name),
    ...labels.map((key) => key.slice(setLabelPrefix.length)),
  ];
  for (const { metadata, ...claim } of server.list(resource.claims)) {
    const volume = server.get(resource.persistentVolumes, String(at(claim, "spec", "volumeName")));
    if (at(volume, "spec", "csi", "volumeHandle") !== handle) continue;
    const denied = sets.find((set) => metadata.labels?.[allowedSetLabelPrefix + set] !== "true");
    if (denied !== undefined) return `claim ${metadata.name} does not allow set ${denied}`;
  }
  return undefined;
}

/** A pod that names a claim of the volume, if there is one. */
function podThatUses(server: SimApiServer, handle: string): string | undefined {
  return server.list(resource.pods).find(({ metadata, ...pod }) => {
    const [volume] = (at(pod, "spec", "volumes") ?? []) as readonly unknown[];
    const name = at(volume, "persistentVolumeClaim", "claimName");
    const claim = server.get(resource.claims, String(name), metadata.namespace);
    const persistentVolume = server.get(resource.persistentVolumes, String(at(claim, "spec", "volumeName")));
    return at(persistentVolume, "spec", "csi", "volumeHandle") === handle;
  })?.metadata.name;
}

/** By which a target's publish path ends (decision 0023). */
function keyOf(target: string): string {
  return hash("sha256", target, "hex").slice(0, 32);
}
