import type { Dentry, Maker } from "../../sim/kernel/dentry.ts";
import type { Disk } from "../../sim/kernel/disk.ts";
import type { KernelListener } from "../../sim/kernel/kernel.ts";
import { pathOf } from "../../sim/kernel/lookup.ts";
import type { Mount, Namespace, Path } from "../../sim/kernel/mount.ts";
import { layout } from "../../sim/machine.ts";
import type { Trace } from "../../sim/trace.ts";

/** Of a node, what its rules are told by. */
interface Ruled {
  /** The mount namespace that the agent is in. */
  readonly namespace: Namespace | undefined;
  /** Whether the agent has read all intents. */
  readonly synced: boolean;
  readonly trace: Trace;
}

/** What the agent must never do to a machine, seen by the machine: it knows who made each mount and file. */
export class NodeRules implements KernelListener {
  readonly #vanished = new Set<string>();
  /** Of them, those whose last step is under way still, which their intent had asked for. */
  readonly #underWay = new Set<string>();
  /** How often the agent did what a rule is about. */
  readonly counts = { mounted: 0, unmounted: 0, removed: 0, formatted: 0 };
  readonly #node: Ruled;
  #broken: string | undefined;

  constructor(node: Ruled) {
    this.#node = node;
  }

  /** Volumes whose intent vanished without being deleted. */
  get vanished(): ReadonlySet<string> {
    return new Set([...this.#vanished, ...this.#underWay]);
  }

  /** From here on nothing of it may go, but by a step that has begun before. */
  vanish(volume: string, underWay: boolean): void {
    (underWay ? this.#underWay : this.#vanished).add(volume);
  }

  /** A step of it has ended. */
  ended(volume: string): void {
    if (this.#underWay.delete(volume)) this.#vanished.add(volume);
  }

  /** It has an intent again. */
  wanted(volume: string): void {
    this.#vanished.delete(volume);
    this.#underWay.delete(volume);
  }

  /** The agent has ended, and its steps with it. */
  killed(): void {
    for (const volume of [...this.#underWay]) this.ended(volume);
  }

  rebooted(): void {
    this.#vanished.clear();
    this.#underWay.clear();
  }

  /** @throws Error with what the agent did that it must not do */
  check(): void {
    if (this.#broken === undefined) return;
    throw new Error(`${this.#broken}\n${this.#node.trace.tail(60)}`);
  }

  attached(mount: Mount, actor: Maker): void {
    if (actor !== "agent" || mount.parent === undefined || mount.namespace !== this.#node.namespace) return;
    this.counts.mounted++;
    if (mount.point === mount.parent.root) this.report(`L9: ${this.#place(mount)} is a second layer`);
  }

  detached(mount: Mount, from: Path, actor: Maker): void {
    if (actor !== "agent" || from.mount.namespace !== this.#node.namespace) return;
    this.counts.unmounted++;
    const path = pathOf(from) ?? "?";
    if (mount.maker !== "agent") this.report(`L6: ${path}, mounted by a ${mount.maker}, was unmounted`);
    if (!this.#node.synced) this.report(`L1: ${path} was unmounted before the intents were read`);
    if (this.#vanished.has(mount.volume ?? "")) this.report(`L8: ${path} was unmounted, whose intent vanished`);
    if (!path.startsWith(`${layout.stateDir}/staging/`)) return;
    const targets = [...(this.#node.namespace?.mounts ?? [])].filter(
      (other) => other.superblock === mount.superblock && this.#place(other).startsWith(`${layout.prefix}/`),
    );
    const [left] = targets;
    if (left !== undefined) this.report(`L3: ${path} was unstaged, and ${this.#place(left)} is mounted`);
  }

  removed(dentry: Dentry, actor: Maker): void {
    if (actor !== "agent" || dentry.path.startsWith(`${layout.stateDir}/trash/`)) return;
    this.counts.removed++;
    if (dentry.maker !== "agent") this.report(`L6: ${dentry.path}, made by a ${dentry.maker}, was removed`);
  }

  formatted(disk: Disk): void {
    this.counts.formatted++;
    const ours = disk.empty || disk.cutOff; // what an mkfs of the agent's that was killed has left is no data
    if (!ours || disk.mounted || disk.holder !== undefined) this.report(`L11: ${disk.name} was formatted`);
  }

  #place(mount: Mount): string {
    const { parent, point } = mount;
    return (parent && point && pathOf({ mount: parent, dentry: point })) ?? "?";
  }

  /** Something that must not be: the world ends with it. */
  report(what: string): void {
    this.#node.trace.add("BROKEN", what);
    this.#broken ??= what;
  }
}
