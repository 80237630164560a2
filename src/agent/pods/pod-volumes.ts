import type { NodeVolumeIntent } from "../../api/types.gen.ts";
import { type PodPublish, type PodTarget, PodVolumeError, type PodVolumes } from "../../csi/server/ports.ts";
import type { MountTable } from "../../host/mount-table/mount-table.ts";
import { tokenAudiencesOf } from "../../plugins/csi.ts";
import { tokensLacking } from "../content/token-problems.ts";
import type { DesiredStateOfWorld } from "../desired/desired-state-of-world.ts";
import type { IntentEntry } from "../desired/intents.ts";
import type { Journal } from "../journal/journal.ts";
import type { Problem } from "../model/actual-volume.ts";
import { asMountPath, type MountPath, type VolumeName } from "../model/identities.ts";
import { podTargetPath } from "../model/pod-path.ts";
import type { Plan } from "../model/volume-plan.ts";
import { begun, notListed, progressOf } from "../status/publish-progress.ts";
import type { KeptTokens } from "./kept-tokens.ts";
import type { OpenPods } from "./open-pods.ts";
import { foreign, hasLeft, notTornDown, problemOf, unmounting, unpublishRequested, waiting } from "./pod-problems.ts";

/** Dependencies of answering kubelet's NodePublishVolume and NodeUnpublishVolume. */
export interface PodVolumesDeps {
  readonly kubeletDir: string;
  readonly open: OpenPods;
  readonly tokens: Pick<KeptTokens, "keep" | "of" | "drop">;
  readonly world: Pick<DesiredStateOfWorld, "ofPod" | "podPaths" | "podChanged">;
  readonly journal: Pick<Journal, "records">;
  intent(name: string): IntentEntry | undefined;
  /** Whether an operation that runs may still make something there. */
  isBusy(path: MountPath): boolean;
  table(): Promise<MountTable>;
  /** Unmounts what is ours there beyond doubt, where the record of it was lost and no intent names the pod any more. */
  unmountLost(path: MountPath): Promise<void>;
  /** Removes the empty mount point, if it is there. */
  removePoint(path: MountPath): Promise<void>;
}

/**
 * Answers kubelet's calls for pods. Nothing is mounted here: a published target becomes part of the desired state of
 * world, an unpublished one leaves it, and the planner does the rest. Waiting calls are checked after each plan.
 */
export class AgentPodVolumes implements PodVolumes {
  readonly #deps: PodVolumesDeps;
  /** Checks of every waiting call after a plan. */
  readonly #looks = new Set<() => void>();
  /** How many calls of each kind there are for a target. */
  readonly #publishing = new Map<MountPath, number>();
  readonly #unpublishing = new Map<MountPath, number>();
  /** Targets from before this process, or that a publish has brought about: a later one that gives up leaves them. */
  readonly established = new Set<MountPath>();
  #plan: Plan | undefined;

  constructor(deps: PodVolumesDeps) {
    this.#deps = deps;
    const targets = [...deps.journal.records.values()].flatMap((record) => record.targets);
    for (const { path } of targets.filter(({ pod }) => pod !== undefined)) {
      deps.open.open(path);
      this.established.add(path);
    }
  }

  async publish(request: PodPublish, signal: AbortSignal): Promise<void> {
    this.#check(request);
    const path = asMountPath(request.path);
    await this.#until(signal, () => (this.#unpublishing.has(path) ? unmounting(path) : undefined));
    count(this.#publishing, path, 1);
    try {
      await this.#until(signal, this.#lookAt(request));
      this.established.add(path);
    } finally {
      count(this.#publishing, path, -1);
      const undo = !this.#publishing.has(path) && !this.established.has(path) && this.#deps.open.isOpen(path);
      // Else a late bind would stay, of which kubelet knows nothing (safety rule 19).
      if (undo) this.#set(path, "close");
    }
  }

  async unpublish(target: PodTarget, signal: AbortSignal): Promise<void> {
    this.#check(target);
    const path = asMountPath(target.path);
    count(this.#unpublishing, path, 1);
    try {
      await this.#takeOver(path, signal);
      const recorded = this.#volumeOf(path) !== undefined; // then the mount point goes with it, or has a reason to stay
      if (!this.#deps.open.closing.has(path)) this.#set(path, "close");
      this.#look(); // who publishes it ends
      await this.#until(signal, () => (this.#isClean(path) ? undefined : this.#inTheWay(path)));
      this.#deps.open.forget(path);
      if (!recorded && (await this.#layers(path)) > 0) await this.#deps.unmountLost(path).catch(notTornDown);
      if ((await this.#layers(path)) > 0) throw waiting(foreign(path));
      if (!recorded) await this.#deps.removePoint(path).catch(notTornDown);
    } finally {
      count(this.#unpublishing, path, -1);
      this.#look();
    }
  }

  /** The pod has ended without kubelet saying so: its directory is gone. */
  podGone(path: MountPath): void {
    if (this.#deps.open.isOpen(path)) this.#set(path, "close");
  }

  /** A plan was made, and what is due was begun. */
  told(plan: Plan): void {
    this.#plan = plan;
    this.#look();
    for (const path of [...this.#deps.open.closing]) if (this.#isClean(path)) this.#deps.open.forget(path);
  }

  /** Where records may be lost, what is mounted for a pod of an intent is taken for what kubelet once asked for. */
  found(table: MountTable): void {
    const { open, world } = this.#deps;
    const lost = [...world.podPaths].filter((path) => !open.isOpen(path) && !open.closing.has(path) && table.at(path));
    for (const path of lost) this.#establish(path);
  }

  /**
   * @returns what a publish looks at: it opens the target once an intent lets the pod have it, and not before, so that
   * nothing is begun of what is refused. It ends when kubelet unpublishes the target, or the pod leaves the intent that
   * named it
   */
  #lookAt(request: PodPublish): () => Problem | undefined {
    const { open, world, intent } = this.#deps;
    const path = asMountPath(request.path);
    let opened = open.isOpen(path);
    let named: VolumeName | undefined;
    return () => {
      if (opened ? !open.isOpen(path) : this.#unpublishing.has(path)) throw waiting(unpublishRequested(path));
      const names = [...world.ofPod(path)].filter((name) => intent(name)?.metadata.deletionTimestamp === undefined);
      const name = named !== undefined && names.includes(named) ? named : names.sort()[0];
      const entry = name === undefined ? undefined : intent(name);
      if (named !== undefined && named !== name) throw waiting(hasLeft(named));
      if (name === undefined || entry === undefined) return notListed(request);
      named = name;
      const progress = progressOf(request, entry, this.#plan?.volumes.get(name));
      if (progress.kind === "refused") throw new PodVolumeError("refused", progress.why.reason, progress.why.message);
      if (progress.kind === "unlisted") return progress.why;
      const lacking = this.#take(path, request.identity, entry.raw);
      if (lacking !== undefined && progress.kind !== "done") throw waiting(lacking);
      if (opened) return progress.kind === "done" ? undefined : progress.why;
      opened = true;
      this.#set(path, "open");
      return begun; // by a plan that knows of it
    };
  }

  /** Keeps of the pod's tokens what the grant names. @returns what the driver lacks to be called for the pod */
  #take(path: MountPath, identity: PodPublish["identity"], { spec }: NodeVolumeIntent): Problem | undefined {
    const { tokens, world } = this.#deps;
    const audiences = tokenAudiencesOf(spec.grant);
    if (tokens.keep(path, identity, audiences)) world.podChanged(path);
    if (audiences === undefined || tokens.of(path, audiences) !== undefined) return undefined;
    return tokensLacking(spec.grant?.csi?.driver ?? "", identity?.tokens.lacking(audiences) ?? audiences);
  }

  /** The problem of an unmount. */
  #inTheWay(path: MountPath): Problem {
    const name = this.#volumeOf(path);
    const volume = name && this.#plan?.volumes.get(name);
    return volume?.problems.targets.get(path) ?? volume?.stuckOperation ?? volume?.failure ?? unmounting(path);
  }

  #isClean(path: MountPath): boolean {
    return !this.#deps.isBusy(path) && this.#volumeOf(path) === undefined;
  }

  /** The volume on whose record a target is. */
  #volumeOf(path: MountPath): VolumeName | undefined {
    for (const { name, targets } of this.#deps.journal.records.values()) {
      if (targets.some((target) => target.path === path)) return name;
    }
    return undefined;
  }

  /** What is mounted and has no record, because that was lost, is put on record first, if an intent names the pod. */
  async #takeOver(path: MountPath, signal: AbortSignal): Promise<void> {
    const { world, isBusy, open } = this.#deps;
    if (this.#volumeOf(path) !== undefined || isBusy(path) || (await this.#layers(path)) === 0) return;
    const [name] = world.ofPod(path);
    if (name === undefined) return;
    if (!open.isOpen(path)) this.#establish(path);
    await this.#until(signal, () => {
      const target = this.#plan?.volumes.get(name)?.actualState.targets.find((one) => one.path === path);
      const isThere = target === undefined || target.foreign !== undefined;
      return this.#volumeOf(path) === undefined && isThere ? foreign(path) : undefined;
    });
  }

  #establish(path: MountPath): void {
    this.established.add(path);
    this.#set(path, "open");
  }

  #set(path: MountPath, how: "open" | "close"): void {
    const { open, world } = this.#deps;
    if (how === "close") {
      this.established.delete(path);
      this.#deps.tokens.drop(path);
    }
    open[how](path);
    world.podChanged(path);
  }

  async #layers(path: MountPath): Promise<number> {
    try {
      return (await this.#deps.table()).layers(path).length;
    } catch (error) {
      throw waiting(problemOf(error, "MountTableUnreadable"));
    }
  }

  /**
   * Waits until `look` finds nothing any more that is waited for.
   * @throws PodVolumeError what `look` throws, or what it found last when the signal comes first
   */
  async #until(signal: AbortSignal, look: () => Problem | undefined): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    let why: Problem | undefined;
    const again = () => {
      try {
        why = look();
        if (why === undefined) resolve();
      } catch (error) {
        reject(error);
      }
    };
    const ended = () => why !== undefined && reject(waiting(why));
    this.#looks.add(again);
    signal.addEventListener("abort", ended);
    try {
      again();
      if (signal.aborted) ended();
      await promise;
    } finally {
      this.#looks.delete(again);
      signal.removeEventListener("abort", ended);
    }
  }

  #look(): void {
    for (const again of [...this.#looks]) again();
  }

  #check({ podUID, volume, path }: PodTarget): void {
    const wanted = podTargetPath(this.#deps.kubeletDir, { uid: podUID, volume });
    if (path === wanted) return;
    const message = `target_path: ${path} is not ${wanted}: --kubelet-dir must be kubelet's --root-dir`;
    throw new PodVolumeError("refused", "PathNotAllowed", message);
  }
}

function count(calls: Map<MountPath, number>, path: MountPath, more: 1 | -1): void {
  const now = (calls.get(path) ?? 0) + more;
  if (now === 0) calls.delete(path);
  else calls.set(path, now);
}
