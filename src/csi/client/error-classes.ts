import type { Reason } from "../../api/reasons.ts";
import type { ErrorClass } from "../../errors.ts";
import type { Code, RPC } from "./rpc.ts";

/** What an answer says of the volume: done, or a failure of this class and reason. */
export type Outcome = "done" | { readonly errorClass: ErrorClass; readonly reason: Reason };

/** Calls that change something; the others only ask. */
export type ChangingRPC = Extract<RPC, `Node${"Stage" | "Unstage" | "Publish" | "Unpublish" | "Expand"}Volume`>;

const final = (reason: Reason): Outcome => ({ errorClass: "final", reason });
const uncertain = (reason: Reason): Outcome => ({ errorClass: "uncertain", reason });

/**
 * Classes for calls that change something, as in kubelet (behaviour 61, pkg/volume/csi/csi_client.go isFinalError):
 * codes after which the driver may still act are uncertain; each other status means that the handler has ended without
 * effect.
 */
const changing: { readonly [code in Code]: Outcome } = {
  OK: "done",
  // Somebody on the way gave the call up. The handler runs on.
  CANCELLED: uncertain("DriverUnavailable"),
  // An error without a code, as Go's servers send a handler's plain error: the handler has ended.
  UNKNOWN: final("DriverFailed"),
  // CSI: a field is missing, or not supported. The driver has not begun.
  INVALID_ARGUMENT: final("DriverFailed"),
  // Ours, or that of something behind the driver. The handler runs on: it does not learn of the deadline in time, or at
  // all.
  DEADLINE_EXCEEDED: uncertain("TimedOut"),
  // CSI: no such volume, so there was nothing to do anything with.
  NOT_FOUND: final("DriverFailed"),
  // CSI has it for stage and publish only (below).
  ALREADY_EXISTS: final("DriverFailed"),
  // CSI: whoever the secrets name may not. Refused before the work.
  PERMISSION_DENIED: final("DriverFailed"),
  // The driver has no room for this call; an earlier one for the volume may still run.
  RESOURCE_EXHAUSTED: uncertain("DriverBusy"),
  // CSI: the volume cannot be used so, or not now.
  FAILED_PRECONDITION: final("DriverFailed"),
  // CSI: an operation is pending for the volume. How that one ends is not known.
  ABORTED: uncertain("DriverBusy"),
  // CSI has it for expand only (below).
  OUT_OF_RANGE: final("DriverFailed"),
  // CSI: the driver does not have this call.
  UNIMPLEMENTED: final("DriverFailed"),
  // The handler has ended; drivers use it for all that went wrong in their own work.
  INTERNAL: final("DriverFailed"),
  // The driver went away, or goes: what it had begun may be going on, and what it had done may be there.
  UNAVAILABLE: uncertain("DriverUnavailable"),
  // The handler has ended: what is lost is not coming back by trying.
  DATA_LOSS: final("DriverFailed"),
  // CSI: the secrets are not valid. Refused before the work.
  UNAUTHENTICATED: final("DriverFailed"),
};

/** Where one call differs. */
const deviations: { readonly [rpc in ChangingRPC]: { readonly [code in Code]?: Outcome } } = {
  NodeStageVolume: {
    // CSI: it is staged there in another way. Nothing was done now, but something is there, and must go first.
    ALREADY_EXISTS: uncertain("DriverFailed"),
  },
  NodePublishVolume: {
    // As above: published there in another way.
    ALREADY_EXISTS: uncertain("DriverFailed"),
  },
  NodeUnstageVolume: {
    // CSI: the driver has no such volume, so it has nothing staged. kubelet repeats this for ever. Whether a mount was
    // left over the mount table says, which has the last word after OK as well.
    NOT_FOUND: "done",
  },
  NodeUnpublishVolume: {
    NOT_FOUND: "done",
  },
  NodeExpandVolume: {
    // Behaviour 73 (pkg/volume/util/resize_util.go): these three mean that this size will never be, and kubelet stops.
    INVALID_ARGUMENT: final("ExpansionInfeasible"),
    NOT_FOUND: final("ExpansionInfeasible"),
    OUT_OF_RANGE: final("ExpansionInfeasible"),
    // CSI and behaviour 74: not while it is staged or published. Tried again when it is set up anew.
    FAILED_PRECONDITION: final("VolumeInUse"),
  },
};

/** Of calls that only ask: whatever went wrong, the volume is as it was, known or not (kubelet's PR 135930). */
function ofQuestion(code: Code): Outcome {
  const outcome = changing[code];
  return outcome === "done" ? outcome : { errorClass: "transient", reason: outcome.reason };
}

/** Whether a call may leave the volume in another state. */
export function isChanging(rpc: RPC): rpc is ChangingRPC {
  return Object.hasOwn(deviations, rpc);
}

/**
 * PURE. The class of a call's end.
 * @param code undefined: a number that is no gRPC code
 * @param spoken whether the driver itself is known to have sent the status. The gRPC library uses the same codes when a
 *   connection breaks or a reply is too large; these say nothing about the handler.
 */
export function outcomeOf(rpc: RPC, code: Code | undefined, spoken: boolean): Outcome {
  const errorClass: ErrorClass = isChanging(rpc) ? "uncertain" : "transient";
  if (code === undefined) return { errorClass, reason: "DriverReplyInvalid" };
  const outcome = isChanging(rpc) ? (deviations[rpc][code] ?? changing[code]) : ofQuestion(code);
  if (spoken || code === "OK") return outcome;
  // RESOURCE_EXHAUSTED that is not the driver's: its answer was longer than we take.
  if (code === "RESOURCE_EXHAUSTED") return { errorClass, reason: "DriverReplyInvalid" };
  return { errorClass, reason: outcome === "done" ? "DriverUnavailable" : outcome.reason };
}
