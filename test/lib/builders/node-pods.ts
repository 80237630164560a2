import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { desiredVolume } from "../../../src/agent/desired/desired-volume.ts";
import { withPods } from "../../../src/agent/desired/pod-mounts.ts";
import { volumeKey } from "../../../src/agent/desired/volume-key.ts";
import type { Desired } from "../../../src/agent/model/desired.ts";
import {
  asIntentUID,
  asMountPath,
  asVolumeName,
  type MountPath,
  type VolumeName,
} from "../../../src/agent/model/identities.ts";
import type { IdentitySource } from "../../../src/agent/model/pod-identity.ts";
import { podTargetPath } from "../../../src/agent/model/pod-path.ts";
import { KeptTokens } from "../../../src/agent/pods/kept-tokens.ts";
import type { NodeVolumeIntent } from "../../../src/api/types.gen.ts";
import { PodTokens } from "../../../src/csi/client/pod-tokens.ts";
import type { Clock } from "../../../src/ports.ts";
import { tokensFor } from "../fakes/pod-tokens.ts";

type SkipFirst<T extends readonly unknown[]> = T extends readonly [unknown, ...infer Rest] ? Rest : never;

/** What kubelet has asked for and given back on a node without one. */
export class NodePods {
  readonly kubeletDir: string;
  readonly #open = new Set<string>();
  /** Paths that were given back. */
  readonly closing = new Set<MountPath>();
  readonly #clock: Clock;
  /** What kubelet has handed over, in the memory of the agent that runs. */
  tokens: KeptTokens;

  constructor(kubeletDir: string, clock: Clock) {
    this.kubeletDir = kubeletDir;
    this.#clock = clock;
    this.tokens = new KeptTokens(clock);
  }

  /** kubelet hands over tokens of a pod, which runs as the account `of-<uid>`. */
  hand(uid: string, audiences: readonly string[], ...more: SkipFirst<Parameters<typeof tokensFor>>): void {
    const tokens = PodTokens.read(tokensFor(uid, ...more), uid);
    this.tokens.keep(asMountPath(this.target(uid)), { serviceAccount: `of-${uid}`, tokens }, audiences);
  }

  /** As whoever calls drivers sees it. */
  readonly identities: IdentitySource = {
    of: (...asked) => this.tokens.of(...asked),
    given: (...told) => this.tokens.given(...told),
  };

  /** As an agent that is started anew. */
  forgetTokens(): void {
    this.tokens = new KeptTokens(this.#clock);
  }

  /** Where kubelet wants the volume `data` of a pod, in a directory that it has made. */
  target(uid: string): string {
    const path = podTargetPath(this.kubeletDir, { uid, volume: "data" });
    mkdirSync(dirname(path), { recursive: true });
    return path;
  }

  ask(...uids: readonly string[]): void {
    for (const uid of uids) this.#open.add(this.target(uid));
  }

  giveBack(...uids: readonly string[]): void {
    for (const uid of uids) {
      this.#open.delete(this.target(uid));
      this.closing.add(asMountPath(this.target(uid)));
      this.tokens.drop(asMountPath(this.target(uid)));
    }
  }

  desired(intents: ReadonlyMap<VolumeName, Desired>): Map<VolumeName, Desired> {
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
  const problem = "not understood";
  return {
    name: asVolumeName(name),
    key: volumeKey(name),
    uid: asIntentUID(uid),
    generation,
    deleting,
    problem,
    deletionPolicy: "Unmount",
    unmountPolicy,
  };
}

/** One that is. */
export function understood(object: NodeVolumeIntent): Desired {
  return desiredVolume(object, volumeKey(object.metadata.name));
}
