import type { NodeService, RegisteredDriver } from "../../../csi/ports.ts";
import { VolumeError } from "../../../errors.ts";
import { answered, awaitsAnswer, type Calls, sending, stillActingMs, unanswered } from "../../model/csi-call-record.ts";
import type { VolumeName } from "../../model/identities.ts";
import type { CSIRecord, StageRecord, VolumeRecord } from "../../model/volume-record.ts";
import { type ActionContext, recordOf } from "../operation-context.ts";

/** @throws VolumeError DriverNotRegistered: nothing was done */
export function driverNamed({ csi }: ActionContext, name: string): RegisteredDriver {
  const driver = csi.drivers.driver(name);
  if (driver !== undefined) return driver;
  const message = `the CSI driver ${name} is not registered on this node: see that its node plugin runs here`;
  throw new VolumeError("DriverNotRegistered", "transient", message, { on: { kind: "CSIDriver", name } });
}

/** The stage of a volume of a CSI driver, by the record. @throws VolumeError if there is none */
export function csiStageOf(record: VolumeRecord): StageRecord & { readonly csi: CSIRecord } {
  const { stage } = record;
  if (stage?.csi !== undefined) return { ...stage, csi: stage.csi };
  throw new VolumeError("SetUpFailed", "transient", "the volume is not staged any more");
}

/**
 * Sends one call that changes something. The call is recorded before, with other facts that are known by then
 * (`before`). An OK reply is not recorded here, but by the caller, after it has checked the mount table.
 * @throws VolumeError as the driver's client does, and uncertain for any other error
 */
export async function callDriver<T>(
  context: ActionContext,
  before: VolumeRecord,
  method: string,
  send: (node: NodeService) => Promise<T>,
): Promise<T> {
  const { csi, journal } = context;
  const stage = csiStageOf(before);
  const { node } = driverNamed(context, stage.csi.driver);
  await journal.put(withCalls(before, sending(stage.csi.calls)));
  const answeredAtLast = csi.waitsFor(stage.csi.driver, method);
  try {
    return await send(node);
  } catch (error) {
    const uncertain = !(error instanceof VolumeError) || error.errorClass === "uncertain";
    const record = recordOf(context, before.name);
    const calls = uncertain ? unanswered() : answered(csiStageOf(record).csi.calls, csi.now());
    await journal.put(withCalls(record, calls));
    throw error;
  } finally {
    answeredAtLast();
  }
}

/** The record after the driver has answered. */
export function withAnswer({ csi }: ActionContext, record: VolumeRecord): VolumeRecord {
  return withCalls(record, answered(csiStageOf(record).csi.calls, csi.now()));
}

/**
 * Has the driver answer anything where a call is open and the release makes no other that would, as of a driver that
 * stages nothing after the last target went: the time of the open call runs from an answer (safety rule 8).
 */
export async function requireDriverReply(context: ActionContext, volume: VolumeName): Promise<void> {
  const { driver, calls } = csiStageOf(recordOf(context, volume)).csi;
  const { csi, journal } = context;
  if (!awaitsAnswer(calls, csi.now())) return;
  await driverNamed(context, driver).node.info();
  await journal.put(withCalls(recordOf(context, volume), answered(sending(calls), csi.now())));
}

/** Refuses to call a volume released while a call that timed out may still take effect (safety rule 8). */
export function refuseWhileActing({ csi }: ActionContext, record: VolumeRecord): void {
  const { driver, calls } = csiStageOf(record).csi;
  const ms = stillActingMs(calls, csi.now(), csi.deadlineMs);
  if (ms === 0) return;
  const message = `a call of ${driver} ended without an answer: it may take effect for ${Math.ceil(ms / 1000)} s more`;
  throw new VolumeError("DriverMayStillAct", "transient", message, { on: { kind: "CSIDriver", name: driver } });
}

/**
 * Fails at once while the wait for an earlier call runs. Effects of that call are undone after the wait, and calling
 * the driver again before shows nothing.
 */
export function refuseBeforeTime(context: ActionContext, record: VolumeRecord): void {
  const { sent, unanswered: open } = csiStageOf(record).csi.calls;
  if (sent !== true && open?.answeredAt?.epoch === context.csi.now().epoch) refuseWhileActing(context, record);
}

/** @returns the record with other facts of its CSI volume */
export function withCSI(record: VolumeRecord, facts: Partial<CSIRecord>): VolumeRecord {
  const stage = csiStageOf(record);
  return { ...record, stage: { ...stage, csi: { ...stage.csi, ...facts } } };
}

function withCalls(record: VolumeRecord, calls: Calls): VolumeRecord {
  return withCSI(record, { calls });
}
