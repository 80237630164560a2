import type { Reason } from "../../api/reasons.ts";
import { quantityBytes } from "../../api/values/quantity.ts";
import { arrayIn, isRecord, recordIn, stringIn } from "../../kube/json.ts";
import type { Intent } from "../model/projections.ts";
import type { Claim, PersistentVolume } from "../model/storage-objects.ts";
import { boundedMessage } from "../model/wait-reason.ts";

/** The growth of a volume, at both ends of the agent's part in it. Pure. */

/** The patch of an intent that tells the node of a size that is larger than what it was told. */
export function capacityPatch({ spec }: Intent, capacityBytes: string | undefined): object | undefined {
  if (capacityBytes === undefined || spec.grant === undefined) return undefined;
  if (spec.capacityBytes !== undefined && BigInt(spec.capacityBytes) >= BigInt(capacityBytes)) return undefined;
  return { spec: { capacityBytes } };
}

/** Conditions of a claim about its growth, which all go when it is done (pkg/volume/util/resize_util.go). */
const ofResize = new Set([
  "Resizing",
  "FileSystemResizePending",
  "ControllerResizeError",
  "NodeResizeError",
  "ModifyVolumeError",
]);
const kubeletKeeps = new Set(["ModifyVolumeError"]);

const nodeResizeError = "NodeResizeError";
/**
 * Reasons of `status.expansion`: the driver will never grow it to this size, and it has ended without (behaviours 73,
 * 74).
 */
const infeasible: ReadonlySet<string> = new Set<Reason>(["ExpansionInfeasible"]);
const final: ReadonlySet<string> = new Set<Reason>(["VolumeInUse", "DriverFailed", "DriverReplyFalse"]);

/**
 * The patch of a PVC's status with the progress of its expansion on the nodes, as kubelet writes it for node expansion:
 * done when every node that may write to the volume has reached the size, infeasible when one of them reports that, and
 * NodeResizeError with the driver's message when one has failed otherwise. While all nodes only read, it is not done:
 * the file system has not grown. undefined: no change.
 * @param users intents with a grant of the volume
 */
export function claimGrowthPatch(
  claim: Claim,
  persistentVolume: PersistentVolume,
  users: readonly Intent[],
  now: string,
): object | undefined {
  const { capacity } = persistentVolume;
  if (users.length === 0 || !awaitsGrowth(claim, capacity)) return undefined;
  const wanted = quantityBytes(capacity);
  const allocated = recordIn(claim.status, "allocatedResourceStatuses");
  const growing = users.filter(canGrow);
  if (growing.length > 0 && growing.every(({ status }) => bytesOf(status.capacityBytes) >= wanted)) {
    const { storage: _, ...others } = allocated ?? {};
    return {
      capacity: { storage: capacity },
      conditions: conditionsWithout(claim, (type) => ofResize.has(type) && !kubeletKeeps.has(type)),
      ...(allocated && { allocatedResourceStatuses: Object.keys(others).length === 0 ? null : { storage: null } }),
    };
  }
  const failedWith = (reasons: ReadonlySet<string>) =>
    growing.find(
      ({ status: { expansion } }) =>
        reasons.has(expansion?.reason ?? "") && bytesOf(expansion?.capacityBytes) >= wanted,
    );
  const resize = stringIn(allocated, "storage");
  if (resize === "NodeResizeInfeasible") return undefined;
  const never = failedWith(infeasible);
  if (never !== undefined) {
    const conditions = [...conditionsWithout(claim, (type) => type === nodeResizeError), errorOf(never, now)];
    return { conditions, allocatedResourceStatuses: { storage: "NodeResizeInfeasible" } };
  }
  const failed = failedWith(final);
  // As kubelet has it, the first failure stands until the growth is done: each attempt has its own words.
  if (failed === undefined || hasCondition(claim, nodeResizeError)) return undefined;
  return {
    conditions: [...conditionsWithout(claim, () => false), errorOf(failed, now)],
    // kubelet says so before it asks the driver; only the node knows when it does.
    ...(resize === "NodeResizePending" && { allocatedResourceStatuses: { storage: "NodeResizeInProgress" } }),
  };
}

function errorOf({ spec, status }: Intent, now: string): object {
  const message = boundedMessage(`node ${spec.nodeName}: ${status.expansion?.message ?? ""}`);
  return { type: nodeResizeError, status: "True", lastTransitionTime: now, message };
}

/** A driver grows a volume by a path that may be written to; who has none never reports a size. */
export function canGrow({ spec: { grant, source, mounts, pods = [] } }: Intent): boolean {
  const says = [grant?.csi, source.csi, source.persistentVolumeClaim];
  return !says.some((one) => one?.readOnly === true) && [...mounts, ...pods].some((use) => !use.readOnly);
}

/** A status is its node's word: what is no number of bytes says nothing, and stops nobody else's growth. */
function bytesOf(text: string | undefined): bigint {
  return text !== undefined && /^[1-9]\d{0,18}$/.test(text) ? BigInt(text) : 0n;
}

function hasCondition({ status }: Pick<Claim, "status">, type: string): boolean {
  return arrayIn(status, "conditions").some((one) => stringIn(one, "type") === type);
}

/** Whether a claim has not got the size of its PersistentVolume yet, by its status. */
export function awaitsGrowth({ status }: Pick<Claim, "status">, capacity: string): boolean {
  if (capacity === "") return false;
  const known = stringIn(recordIn(status, "capacity"), "storage");
  return (
    hasCondition({ status }, "FileSystemResizePending") ||
    known === undefined ||
    quantityBytes(known) < quantityBytes(capacity)
  );
}

function conditionsWithout({ status }: Claim, goes: (type: string) => boolean): unknown[] {
  return arrayIn(status, "conditions").filter((one) => isRecord(one) && !goes(stringIn(one, "type") ?? ""));
}
