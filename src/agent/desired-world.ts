import type { ObjectStore } from "../kube/object-store.ts";
import type { ObjectRef } from "../plugins/plugin.ts";
import type { Cancel } from "../ports.ts";
import { type Desired, isInvalid } from "./desired-volume.ts";
import type { IntentEntry } from "./intents.ts";
import { Touched } from "./touched.ts";

export interface DesiredWorldDeps {
  readonly store: ObjectStore<IntentEntry>;
  /** Told when other objects are shown than before: all that are. */
  follow(refs: readonly ObjectRef[]): void;
  /** Something has changed. */
  onChange(): void;
}

/** The intents of one node as the planner takes them, kept up with each event of their store. */
export class DesiredWorld {
  readonly #deps: DesiredWorldDeps;
  readonly #volumes = new Map<string, Desired>();
  readonly #refs = new Map<string, ObjectRef>();
  /** Volumes whose intent has changed. */
  readonly touched = new Touched();
  #followed = true;

  constructor(deps: DesiredWorldDeps) {
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
  get volumes(): ReadonlyMap<string, Desired> {
    return this.#volumes;
  }

  get synced(): boolean {
    return this.#deps.store.state().synced;
  }

  /** Has what is shown now followed, before the planner asks for it. */
  follow(): void {
    if (this.#followed) return;
    this.#followed = true;
    this.#deps.follow([...this.#refs.values()]);
  }

  #take(desired: Desired): void {
    this.touched.add(desired.name);
    this.#volumes.set(desired.name, desired);
    this.#refer(desired.name, isInvalid(desired) ? undefined : desired.layout.content);
    this.#deps.onChange();
  }

  #drop(name: string): void {
    this.touched.add(name);
    this.#volumes.delete(name);
    this.#refer(name, undefined);
    this.#deps.onChange();
  }

  #refer(name: string, ref: ObjectRef | undefined): void {
    if (this.#refs.get(name) === ref) return;
    this.#followed = false;
    if (ref === undefined) this.#refs.delete(name);
    else this.#refs.set(name, ref);
  }
}
