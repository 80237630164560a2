import type { ObjectStore } from "../../kube/watch/object-store.ts";
import type { ContentRef } from "../../plugins/api/content.ts";
import type { Cancel } from "../../ports.ts";
import { refsOf } from "../content/content-of.ts";
import { type Desired, isInvalid } from "../model/desired.ts";
import type { MountPath, VolumeName } from "../model/identities.ts";
import { podTargetPath } from "../model/pod-path.ts";
import type { IntentEntry } from "./intents.ts";
import { withPods } from "./pod-mounts.ts";

/** Inputs of the desired state of world, and callbacks for its changes. */
export interface DesiredStateOfWorldDeps {
  readonly store: ObjectStore<IntentEntry>;
  /** Called with all objects that volumes show, when that set has changed. */
  follow(refs: readonly ContentRef[]): void;
  /** Something has changed. */
  onChange(): void;
  /** kubelet's directory, and whether kubelet has published a target there. Undefined: the node has no pods. */
  readonly pods?: { readonly kubeletDir: string; isOpen(path: MountPath): boolean } | undefined;
}

/** The intents of one node as the planner takes them, kept up with each event of their store. */
export class DesiredStateOfWorld {
  readonly #deps: DesiredStateOfWorldDeps;
  readonly #volumes = new Map<VolumeName, Desired>();
  readonly #refs = new Map<VolumeName, readonly ContentRef[]>();
  /** Names of the intents that name a pod, by the path of its target. */
  readonly #ofPods = new Map<MountPath, Set<VolumeName>>();
  #followed = true;

  constructor(deps: DesiredStateOfWorldDeps) {
    this.#deps = deps;
  }

  start(): Cancel {
    const { store, onChange } = this.#deps;
    return store.subscribe({
      onAdd: (entry) => this.#take(entry.desired),
      onUpdate: (before, { desired }) => {
        if (before.desired !== desired) this.#take(desired); // else another status, which nothing is decided from
      },
      onDelete: ({ desired }) => this.#drop(desired.name),
      onState: onChange,
    });
  }

  /** By name. The same map each time, changed in place. */
  get volumes(): ReadonlyMap<VolumeName, Desired> {
    return this.#volumes;
  }

  get synced(): boolean {
    return this.#deps.store.state().synced;
  }

  /** Starts watching the objects that volumes show now, before the planner needs them. */
  follow(): void {
    if (this.#followed) return;
    this.#followed = true;
    this.#deps.follow([...this.#refs.values()].flat());
  }

  /** Intents that name the pod whose target has this path. */
  ofPod(path: MountPath): ReadonlySet<VolumeName> {
    return this.#ofPods.get(path) ?? none;
  }

  /** Paths of the targets of all pods that intents name. */
  get podPaths(): Iterable<MountPath> {
    return this.#ofPods.keys();
  }

  /** kubelet has called NodePublishVolume or NodeUnpublishVolume for the target of a pod. */
  podChanged(path: MountPath): void {
    for (const name of this.ofPod(path)) {
      const entry = this.#deps.store.get(name);
      if (entry !== undefined) this.#volumes.set(name, this.#understood(entry.desired));
    }
    this.#deps.onChange();
  }

  #take(desired: Desired): void {
    this.#indexPods(desired.name, desired);
    this.#volumes.set(desired.name, this.#understood(desired));
    this.#refer(desired.name, refsOf(desired));
    this.#deps.onChange();
  }

  #drop(name: VolumeName): void {
    this.#indexPods(name, undefined);
    this.#volumes.delete(name);
    this.#refer(name, undefined);
    this.#deps.onChange();
  }

  #understood(desired: Desired): Desired {
    const { pods } = this.#deps;
    return pods === undefined ? desired : withPods(desired, pods.kubeletDir, (path) => pods.isOpen(path));
  }

  #indexPods(name: VolumeName, desired: Desired | undefined): void {
    const before = this.#volumes.get(name);
    for (const path of this.#pathsOf(before)) {
      const names = this.#ofPods.get(path);
      names?.delete(name);
      if (names?.size === 0) this.#ofPods.delete(path);
    }
    for (const path of this.#pathsOf(desired)) {
      const names = this.#ofPods.get(path);
      if (names === undefined) this.#ofPods.set(path, new Set([name]));
      else names.add(name);
    }
  }

  #pathsOf(desired: Desired | undefined): MountPath[] {
    const { kubeletDir } = this.#deps.pods ?? {};
    if (kubeletDir === undefined || desired === undefined || isInvalid(desired)) return [];
    return (desired.pods ?? []).map((pod) => podTargetPath(kubeletDir, pod));
  }

  #refer(name: VolumeName, refs: readonly ContentRef[] | undefined): void {
    if (this.#refs.get(name) === refs) return;
    this.#followed = false;
    if (refs === undefined) this.#refs.delete(name);
    else this.#refs.set(name, refs);
  }
}

const none: ReadonlySet<VolumeName> = new Set();
