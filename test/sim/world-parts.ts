import type { IntentsBy } from "../../src/agent/desired/intent-source.ts";
import type { SimApiServer } from "./api/sim-api-server.ts";
import type { Network } from "./api/sim-transport.ts";
import type { DriverFault } from "./csi/faults.ts";
import type { Storage } from "./csi/storage.ts";
import type { Faults } from "./faults.ts";
import type { HostFault } from "./host/host-fault.ts";
import type { Invariants } from "./invariants/invariants.ts";
import type { Machine } from "./machine.ts";
import type { SeededRandom } from "./random.ts";
import type { Scheduler } from "./scheduler.ts";
import type { Sightings } from "./sightings.ts";
import type { Trace } from "./trace.ts";

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
  readonly storage: Storage;
  /** How agents hear of their intents. */
  readonly intents: IntentsBy;
  /** Asked for each effect on a host: how it fails, if it does. */
  hostFault(): HostFault | undefined;
  /** Asked for each event that a kernel tells an agent of: whether it gets lost. */
  losesWake(): boolean;
  /** Asked for each read of a mount table: how it fails, if it does. */
  tableFault(): Error | undefined;
  /** Asked for each call of a CSI driver that changes something: how it fails, if it does. */
  driverFault(): DriverFault | undefined;
  /** Asked for each volume that is attached or detached: whether that fails. */
  attacherFails(): boolean;
  /** How far the clock of a machine, or of a controller's, is from ours. */
  skewMs(place: string): number;
  /** Told when a machine has started again. */
  onBoot(machine: Machine, planned: boolean): void;
}
