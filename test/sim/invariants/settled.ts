import type { SimApiServer } from "../api/sim-api-server.ts";
import type { Cluster } from "../cluster.ts";
import type { ControllerProcess } from "../controller-process.ts";
import type { CSIWorld } from "../csi/csi-world.ts";
import type { Scheduler } from "../scheduler.ts";
import type { SimNode } from "../sim-node.ts";
import type { Invariants } from "./invariants.ts";

/** What of a world is looked at once nothing changes any more. */
export interface Settled {
  readonly scheduler: Scheduler;
  readonly server: SimApiServer;
  readonly cluster: Cluster;
  readonly nodes: ReadonlyMap<string, SimNode>;
  readonly csi: CSIWorld;
  readonly controllers: readonly ControllerProcess[];
  readonly invariants: Invariants;
  /** @see World.canaries */
  readonly canaries: ReadonlyMap<string, string>;
  /** @see World.uprooted */
  readonly uprooted: boolean;
  /** @see World.deletedOverReboot */
  readonly deletedOverReboot: readonly string[];
}

/** What of a settled world is otherwise than the intents alone would say. */
export interface Expected {
  /** Intents that cannot become Ready, by name, and the reason that their status gives. */
  readonly blocked?: { readonly [intent: string]: string };
  /** Sets that cannot become Ready, by name, and a reason that one of their conditions gives. */
  readonly sets?: { readonly [set: string]: string };
  /** Volumes without an intent that are kept: retained, or gone without an explanation. */
  readonly kept?: readonly string[];
  /** Volumes without an intent of which the agent may never have seen that they were deleted. */
  readonly mayBeKept?: readonly string[];
  /** Mount points may be left: nobody can know any more that the agent made them. */
  readonly pointsMayBeLeft?: boolean;
}
