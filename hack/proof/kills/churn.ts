import { type IntentInput, intent } from "../../lib/agent-on-kernel/intent.ts";
import type { KernelAgent } from "../../lib/agent-on-kernel/kernel-agent.ts";
import type { Seeded } from "../../lib/seeded.ts";
import type { VolumeKind } from "./volumes.ts";

/** One object's life, from its creation until the agent has acknowledged its deletion. */
export interface Life {
  readonly uid: string;
  generation: number;
  revoked: boolean;
  /** Where it is wanted, and whether read-only. */
  mounts: ReadonlyMap<string, boolean>;
  /** Where it was ever wanted. */
  readonly paths: Set<string>;
  /** The generation of which the agent has said that it is mounted. */
  mountedGeneration: number;
  /**
   * The id of the mount on each path that it was said to be mounted on: in use until it is not wanted there any more.
   */
  readonly held: Map<string, bigint>;
  /** Where what it is made of was seen, when it was said to be mounted: its staging directory, too. */
  readonly shownOn: Set<string>;
}

/** A volume of one name, and its present life if it has one. */
export interface Slot {
  readonly name: string;
  readonly kind: VolumeKind;
  life: Life | undefined;
}

/**
 * What people and the controller do to a node's volumes, by chance: they come, get a second place, become read-only,
 * go.
 */
export class Churn {
  readonly slots: readonly Slot[];
  changes = 0;
  readonly #agent: KernelAgent;
  #born = 0;

  constructor(agent: KernelAgent, kinds: readonly VolumeKind[]) {
    this.#agent = agent;
    this.slots = kinds.map((kind) => ({ name: `node.${kind.name}`, kind, life: undefined }));
  }

  /** Changes one volume of those that are not on their way out. */
  change(random: Seeded): void {
    const [share, roll] = [random.next(), random.next()];
    const open = this.slots.filter(({ life }) => life?.revoked !== true);
    const slot = open[Math.floor(share * open.length)];
    if (slot === undefined) return;
    if (slot.life === undefined) this.#create(slot);
    else if (roll < 0.35) this.revoke(slot);
    else this.#alter(slot, slot.life, roll);
    this.changes += 1;
  }

  /** Everything that there can be. */
  createAll(): void {
    for (const slot of this.slots) if (slot.life === undefined) this.#create(slot);
  }

  revoke(slot: Slot): void {
    const { life } = slot;
    if (life === undefined || life.revoked) return;
    life.revoked = true;
    life.generation += 1;
    life.held.clear();
    this.#agent.revoke(slot.name);
  }

  #create(slot: Slot): void {
    this.#born += 1;
    const life: Life = {
      ...{ uid: `${slot.name}-${this.#born}`, generation: 1, revoked: false, mountedGeneration: 0 },
      mounts: new Map([[this.#path(slot, "a"), false]]),
      ...{ paths: new Set(), held: new Map(), shownOn: new Set() },
    };
    slot.life = life;
    this.#write(slot, life);
  }

  #alter(slot: Slot, life: Life, roll: number): void {
    const mounts = new Map(life.mounts);
    const [first, second] = [this.#path(slot, "a"), this.#path(slot, "b")];
    if (roll < 0.7) {
      if (!mounts.delete(second)) mounts.set(second, roll < 0.5);
    } else mounts.set(first, mounts.get(first) !== true);
    // Flags of a mount that is shared are changed by mounting it anew: the change itself asks for that.
    for (const path of life.held.keys()) if (mounts.get(path) !== life.mounts.get(path)) life.held.delete(path);
    life.mounts = mounts;
    life.generation += 1;
    this.#write(slot, life);
  }

  #write({ name, kind }: Slot, { uid, generation, mounts, paths }: Life): void {
    for (const path of mounts.keys()) paths.add(path);
    const wanted: IntentInput = {
      ...{ ...kind.spec, name, uid, generation },
      mounts: [...mounts].map(([path, readOnly]) => ({ path, readOnly })),
    };
    this.#agent.want(intent(wanted));
  }

  #path(slot: Slot, name: string): string {
    return this.#agent.target(`${slot.kind.name}-${name}`);
  }
}
