import type { IntentsBy } from "../../src/agent/desired/intent-source.ts";
import type { Admission } from "./api/admission.ts";
import type { DriverKind } from "./csi/storage.ts";
import type { CrashPoint } from "./faults.ts";
import type { AgentPlace } from "./kernel/agent-namespace.ts";
import { SeededRandom } from "./random.ts";

/** A run that does more goes round in circles, unless its story is a long one. */
export const usualEvents = 200_000;

/**
 * Virtual milliseconds in which a world comes to rest: above the longest backoff (122 s) and a lost watch (180 s),
 * twice in a row.
 */
export const settleMs = 700_000;

export interface WorldOptions {
  readonly seed: number;
  readonly admission: Admission;
  readonly nodes?: readonly string[];
  /** Candidates of the real controller; without any a fake one grants and lets go, and never fails. */
  readonly controllers?: number;
  /** CSI drivers on each node; with an attacher for each that attaches. */
  readonly drivers?: readonly DriverKind[];
  /** Whether kube-controller-manager's attach/detach controller works on the same VolumeAttachments. */
  readonly kubeControllerManager?: boolean;
  readonly place?: AgentPlace;
  /** How agents hear of their intents; if not given, as `intentsBy` says. */
  readonly intents?: IntentsBy | undefined;
  readonly crash?: CrashPoint | undefined;
  /** Whether things go wrong at random, as the seed says. */
  readonly stormy?: boolean | undefined;
  /** For a long story: `usualEvents` if not given. */
  readonly mostEvents?: number;
}

/** By the index in one of three storms, so that it meets all weather; else by a watch. */
export function intentsBy({ intents, stormy = false, seed }: WorldOptions): IntentsBy {
  const indexed = stormy && new SeededRandom(seed, "intents").below(3) === 0;
  return intents ?? (indexed ? "Index" : "Watch");
}
