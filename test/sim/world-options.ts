import type { Admission } from "./api/admission.ts";
import type { DriverKind } from "./csi/storage.ts";
import type { CrashPoint } from "./faults.ts";
import type { AgentPlace } from "./kernel/agent-namespace.ts";

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
  readonly crash?: CrashPoint | undefined;
  /** Whether things go wrong at random, as the seed says. */
  readonly stormy?: boolean | undefined;
}
