import { quantityBytes } from "../../api/quantity.ts";
import { arrayIn, isRecord, recordIn, stringIn } from "../../kube/json.ts";
import type { Claim, PersistentVolume } from "../attach/objects.ts";
import { bounded } from "../attach/word.ts";
import type { Intent } from "../projections.ts";

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

/**
 * The patch of a claim's status that says how its growth stands on the nodes, as kubelet says it where it is the node side:
 * done when every node that has the volume and may write to it has reached the size, infeasible when one of them says so.
 * While all only read, it is not done: what is on the volume has not grown. undefined: as it is.
 * @param users intents that have a grant of the volume
 */
export function claimGrowthPatch(
  claim: Claim,
  persistentVolume: PersistentVolume,
  users: readonly Intent[],
  now: string,
): object | undefined {
  const { capacity } = persistentVolume;
  if (capacity === "" || users.length === 0 || !isPending(claim, capacity)) return undefined;
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
  const failed = growing.find(
    ({ status: { expansion } }) =>
      expansion?.reason === "ExpansionInfeasible" && bytesOf(expansion.capacityBytes) >= wanted,
  );
  if (failed === undefined || stringIn(allocated, "storage") === "NodeResizeInfeasible") return undefined;
  const message = bounded(`node ${failed.spec.nodeName}: ${failed.status.expansion?.message ?? ""}`);
  const error = { type: "NodeResizeError", status: "True", lastTransitionTime: now, message };
  return {
    conditions: [...conditionsWithout(claim, (type) => type === "NodeResizeError"), error],
    allocatedResourceStatuses: { storage: "NodeResizeInfeasible" },
  };
}

/** A driver grows a volume by a path that may be written to; who has none never reports a size. */
function canGrow({ spec: { grant, source, mounts } }: Intent): boolean {
  const says = [grant?.csi, source.csi, source.persistentVolumeClaim];
  return !says.some((one) => one?.readOnly === true) && mounts.some((mount) => !mount.readOnly);
}

/** A status is its node's word: what is no number of bytes says nothing, and stops nobody else's growth. */
function bytesOf(text: string | undefined): bigint {
  return text !== undefined && /^[1-9]\d{0,18}$/.test(text) ? BigInt(text) : 0n;
}

function isPending({ status }: Claim, capacity: string): boolean {
  const known = stringIn(recordIn(status, "capacity"), "storage");
  const waits = arrayIn(status, "conditions").some((one) => stringIn(one, "type") === "FileSystemResizePending");
  return waits || known === undefined || quantityBytes(known) < quantityBytes(capacity);
}

function conditionsWithout({ status }: Claim, goes: (type: string) => boolean): unknown[] {
  return arrayIn(status, "conditions").filter((one) => isRecord(one) && !goes(stringIn(one, "type") ?? ""));
}
