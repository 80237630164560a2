import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import type { Desired } from "../../src/agent/desired-volume.ts";
import { withPods } from "../../src/agent/pods/pod-mounts.ts";
import { podTargetPath } from "../../src/agent/pods/pod-path.ts";

/** What kubelet has asked for and given back on a node without one. */
export class NodePods {
  readonly kubeletDir: string;
  readonly #open = new Set<string>();
  /** Paths that were given back. */
  readonly closing = new Set<string>();

  constructor(kubeletDir: string) {
    this.kubeletDir = kubeletDir;
  }

  /** Where kubelet wants the volume `data` of a pod, in a directory that it has made. */
  target(uid: string): string {
    const path = podTargetPath(this.kubeletDir, { podUID: uid, volume: "data" });
    mkdirSync(dirname(path), { recursive: true });
    return path;
  }

  ask(...uids: readonly string[]): void {
    for (const uid of uids) this.#open.add(this.target(uid));
  }

  giveBack(...uids: readonly string[]): void {
    for (const uid of uids) {
      this.#open.delete(this.target(uid));
      this.closing.add(this.target(uid));
    }
  }

  desired(intents: ReadonlyMap<string, Desired>): Map<string, Desired> {
    const isOpen = (path: string) => this.#open.has(path);
    return new Map([...intents].map(([name, one]) => [name, withPods(one, this.kubeletDir, isOpen)]));
  }
}

/** An intent whose spec is not understood. */
export function notUnderstood({
  name,
  uid = "",
  generation = 0,
  deletionTimestamp,
}: {
  readonly name: string;
  readonly uid?: string;
  readonly generation?: number;
  readonly deletionTimestamp?: string;
}): Desired {
  const unmountPolicy = { max: "Normal", timeoutSeconds: 90 } as const;
  const deleting = deletionTimestamp !== undefined;
  return { name, uid, generation, deleting, problem: "not understood", deletionPolicy: "Unmount", unmountPolicy };
}
