import { type IntentEntry, understand } from "../../../src/agent/desired/intents.ts";
import type { NodeVolumeIntent } from "../../../src/api/types.gen.ts";
import type { Change } from "../api/collection.ts";

/** Every version that each intent has had: what somebody may have seen and acted on. */
export class IntentHistory {
  readonly #versions = new Map<string, NodeVolumeIntent[]>();
  readonly #understood = new WeakMap<NodeVolumeIntent, IntentEntry>();

  changed({ object }: Change): void {
    const intent = object as unknown as NodeVolumeIntent; // the collection holds nothing else
    const known = this.#versions.get(intent.metadata.name) ?? [];
    this.#versions.set(intent.metadata.name, known);
    const last = known.at(-1);
    const same = last?.metadata.generation === intent.metadata.generation && last?.metadata.uid === intent.metadata.uid;
    if (!same) known.push(intent);
  }

  /** As an agent understands it that has never seen it before. */
  understood(intent: NodeVolumeIntent): IntentEntry | undefined {
    const entry = this.#understood.get(intent) ?? understand(intent);
    if (entry !== undefined) this.#understood.set(intent, entry);
    return entry;
  }

  of(name: string): readonly NodeVolumeIntent[] {
    return this.#versions.get(name) ?? [];
  }

  /**
   * Whether a mount for this intent was at some time not wanted on the path: revoked, or without the path.
   * @param since generation that was acted for already: what was before it says nothing any more (safety rule 4)
   */
  gaveUp(name: string, uid: string, path: string, since: number): boolean {
    return this.#from(name, uid, since).some(
      ({ metadata, spec }) => isRevoked(metadata) || !spec.mounts.some((mount) => mount.path === path),
    );
  }

  /** Whether the whole volume was at some time since not wanted. */
  gaveUpAll(name: string, uid: string, since: number): boolean {
    return this.#from(name, uid, since).some(({ metadata, spec }) => isRevoked(metadata) || spec.mounts.length === 0);
  }

  #from(name: string, uid: string, since: number): NodeVolumeIntent[] {
    return this.of(name).filter(({ metadata }) => metadata.uid === uid && (metadata.generation ?? 0) >= since);
  }

  /** Whether the flags of a mount were ever changed: where it has copies, that needs another mount. */
  changedFlags(name: string, uid: string, path: string): boolean {
    const versions = this.of(name).filter(({ metadata }) => metadata.uid === uid);
    const flags = versions.flatMap(({ spec }) =>
      spec.mounts
        .filter((mount) => mount.path === path)
        .map((m) => `${m.readOnly === true} ${m.mountOptions?.join(",")}`),
    );
    return new Set(flags).size > 1 || versions.some(({ spec }) => spec.adopt === "IfSame");
  }

  /**
   * Whether the options of its file system were ever changed, or the group that its driver mounts it for: that may need
   * another mount.
   */
  changedOptions(name: string, uid: string): boolean {
    const options = this.of(name)
      .filter(({ metadata }) => metadata.uid === uid)
      .map(({ spec: { mountOptions = [], mounts, grant } }) => {
        const byDriver = grant?.csi !== undefined && grant.csi.supportsFSGroup !== true;
        return JSON.stringify([mountOptions, byDriver ? mounts.map(({ fsGroup }) => fsGroup ?? "") : []]);
      });
    return new Set(options).size > 1;
  }
}

function isRevoked({ deletionTimestamp }: NodeVolumeIntent["metadata"]): boolean {
  return deletionTimestamp !== undefined;
}
