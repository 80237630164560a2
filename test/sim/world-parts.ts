import type { SimApiServer } from "./api/sim-api-server.ts";
import type { Network } from "./api/sim-transport.ts";
import type { Faults } from "./faults.ts";
import type { Invariants } from "./invariants/invariants.ts";
import type { Machine } from "./machine.ts";
import type { SeededRandom } from "./random.ts";
import type { Scheduler } from "./scheduler.ts";
import type { Sightings } from "./sightings.ts";
import type { Trace } from "./trace.ts";
import type { HostFault } from "./weather.ts";

/** What the processes of one world share. */
export interface WorldParts {
  readonly scheduler: Scheduler;
  readonly random: SeededRandom;
  readonly trace: Trace;
  readonly sightings: Sightings;
  readonly faults: Faults;
  readonly server: SimApiServer;
  readonly network: Network;
  readonly invariants: Invariants;
  /** Asked for each effect on a host: how it fails, if it does. */
  hostFault(): HostFault | undefined;
  /** Asked for each event that a kernel tells an agent of: whether it gets lost. */
  losesWake(): boolean;
  /** Asked for each read of a mount table: how it fails, if it does. */
  tableFault(): Error | undefined;
  /** How far the clock of a machine, or of a controller's, is from ours. */
  skewMs(place: string): number;
  /** Told when a machine has started again. */
  onBoot(machine: Machine, planned: boolean): void;
}
