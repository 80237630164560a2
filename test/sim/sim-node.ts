import { AgentProcess } from "./agent-process.ts";
import { SimDriver } from "./csi/sim-driver.ts";
import type { DriverKind } from "./csi/storage.ts";
import type { AgentPlace } from "./kernel/agent-namespace.ts";
import type { KernelListener } from "./kernel/kernel.ts";
import { Machine } from "./machine.ts";
import { People } from "./people.ts";
import { SimKubelet } from "./sim-kubelet.ts";
import type { WorldParts } from "./world-parts.ts";

/** A node of the world, with who and what is there. */
export interface SimNode {
  readonly machine: Machine;
  readonly agent: AgentProcess;
  readonly people: People;
  readonly kubelet: SimKubelet;
  /** CSI drivers, by name. */
  readonly drivers: ReadonlyMap<string, SimDriver>;
}

export interface SimNodeInput {
  readonly name: string;
  readonly place: AgentPlace;
  readonly parts: WorldParts;
  readonly drivers: readonly DriverKind[];
  /** Told of every change of mounts and files, in words. */
  note(what: string): void;
  /** Whether a machine has rebooted without the story knowing. */
  uprooted(): boolean;
}

export function simNode({ name, place, parts, drivers: kinds, note, uprooted }: SimNodeInput): SimNode {
  const { scheduler, trace, invariants, storage } = parts;
  const listener: KernelListener = {
    attached: (mount, actor) => {
      note(`${actor} mounts ${mount.id} ${mount.root.path} on ${mount.namespace?.name} ${mount.point?.path}`);
      invariants.mounts.attached(machine, mount, actor);
    },
    detached: (mount, from, actor) => {
      note(`${actor} unmounts ${mount.id} from ${from.mount.namespace?.name} ${from.dentry.path}`);
      invariants.mounts.detached(machine, mount, from, actor);
    },
    removed: (dentry, actor) => {
      note(`${actor} removes ${dentry.path}`);
      invariants.mounts.removed(machine, dentry, actor);
    },
  };
  const machine: Machine = new Machine({ name, scheduler, listener, place });
  const drivers = new Map(kinds.map((kind) => [kind.name, new SimDriver(kind, machine, storage, parts)]));
  const agent = new AgentProcess(machine, parts, [...drivers.values()]);
  const people = new People(machine, trace, uprooted);
  return { machine, agent, people, kubelet: new SimKubelet(machine, agent, people, parts), drivers };
}
