import type { HostPorts } from "../../host/ports/host-ports.ts";
import type { Cancel, System } from "../../ports.ts";
import type { MountPath } from "../model/identities.ts";
import { podDirectory } from "../model/pod-path.ts";
import type { Plan, VolumePlan } from "../model/volume-plan.ts";

/** How often the directory of a pod is checked if it cannot be watched, in milliseconds. */
const checkMs = 30_000;
/** Milliseconds after which a child that looks is given up. */
const deadlineMs = 10_000;

/**
 * Dependencies of noticing that kubelet has removed a pod's directory. A kubelet that was restarted without the
 * directory makes no NodeUnpublishVolume call for it.
 */
export interface GonePodsDeps {
  readonly system: System;
  readonly host: HostPorts;
  readonly kubeletDir: string;
  /** The directory of the pod is gone: kubelet has nothing of it any more, and will not unpublish the target. */
  onGone(path: MountPath): void;
}

/**
 * Looks after the pods that still have a volume which is to go, or which they may not have any more. kubelet
 * unpublishes it, unless it was restarted without the pod's directory.
 */
export class GonePods {
  readonly #deps: GonePodsDeps;
  /** Watches of pods' directories by path of the target. */
  readonly #followed = new Map<MountPath, Cancel>();
  readonly #ofVolume = new Map<string, readonly MountPath[]>();

  constructor(deps: GonePodsDeps) {
    this.#deps = deps;
  }

  follow({ changed, volumes }: Plan): void {
    for (const name of changed.keys()) {
      const before = this.#ofVolume.get(name) ?? [];
      const now = heldIn(volumes.get(name));
      for (const path of before) if (!now.has(path)) this.#end(path);
      for (const [path, uid] of now) if (!this.#followed.has(path)) this.#begin(path, uid);
      if (now.size === 0) this.#ofVolume.delete(name);
      else this.#ofVolume.set(name, [...now.keys()]);
    }
  }

  stop(): void {
    for (const path of [...this.#followed.keys()]) this.#end(path);
  }

  #begin(path: MountPath, uid: string): void {
    const { system, host, kubeletDir } = this.#deps;
    const directory = podDirectory(kubeletDir, uid);
    let timer: Cancel = () => {};
    const check = () => {
      timer();
      timer = system.timers.after(checkMs, check);
      void this.#check(path, directory);
    };
    const place = { root: "/", path: directory, links: "refuse" } as const;
    const stopWatching = host.wakeups.path(place, { woken: check, unavailable() {} });
    this.#followed.set(path, () => {
      timer();
      stopWatching();
    });
    check();
  }

  #end(path: MountPath): void {
    this.#followed.get(path)?.();
    this.#followed.delete(path);
  }

  /** Gone is a pod without a directory, while that of all pods can be seen, and nothing is mounted on the target. */
  async #check(path: MountPath, directory: string): Promise<void> {
    const { host, system, kubeletDir, onGone } = this.#deps;
    const { mounter } = host.effects({ deadlineMs, formatDeadlineMs: deadlineMs, onChild: async () => {} });
    try {
      if (await mounter.inspect({ root: "/", path: directory })) return;
      if ((await mounter.inspect({ root: "/", path: `${kubeletDir}/pods` })) === undefined) return;
      if ((await host.mountTable.read()).layers(path).length > 0) return;
    } catch (error) {
      system.log.debug("a pod's directory was not looked for", { path: directory, error: String(error) });
      return;
    }
    if (this.#followed.has(path)) onGone(path);
  }
}

/**
 * Targets that wait for nothing but the end of their pod, with its UID. Only this reason needs a check: a target that
 * is to be unmounted reports it while its pod holds it, whatever else is wrong, and one that is to stay is mounted
 * again as long as the intent lists its pod.
 */
function heldIn(volume: VolumePlan | undefined): Map<MountPath, string> {
  const held = (volume?.actualState.targets ?? []).flatMap(({ path, record }) => {
    const waits = volume?.problems.targets.get(path)?.reason === "ConsumerStillRunning";
    return waits && record?.pod !== undefined ? [[path, record.pod.uid] as const] : [];
  });
  return new Map(held);
}
