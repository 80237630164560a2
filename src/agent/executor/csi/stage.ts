import type { NodeCapabilities } from "../../../csi/ports.ts";
import { VolumeError } from "../../../errors.ts";
import { mountIdentity } from "../../../host/mount-table/mount-table.ts";
import type { CSIVolume } from "../../../plugins/api/volume-plugin.ts";
import type { DesiredVolume } from "../../model/desired.ts";
import type { VolumeName } from "../../model/identities.ts";
import type { CSIRecord, StageRecord, VolumeRecord } from "../../model/volume-record.ts";
import { toldOwnership } from "../../ownership/fsgroup-policy.ts";
import { type ActionContext, recordOf } from "../operation-context.ts";
import { capabilityOf } from "./capability.ts";
import { callDriver, csiStageOf, driverNamed, withAnswer } from "./driver-call.ts";
import { withShown } from "./driver-mounts.ts";
import { mountsIn, stagingPathIn, volumeDirectory } from "./paths.ts";
import { falseReply } from "./reply.ts";

/**
 * Has the driver stage the volume, once for all its targets, if it stages at all (STAGE_UNSTAGE_VOLUME). Idempotent:
 * what is staged already the driver takes for done, also after a restart of either (CSI: NodeStageVolume).
 */
export async function stageByDriver(context: ActionContext, desired: DesiredVolume, volume: CSIVolume): Promise<void> {
  const { journal, host, settings } = context;
  refuseAttached(context, desired.name, volume);
  const { node } = driverNamed(context, volume.driver);
  const capabilities = await node.capabilities();
  const { stage: secret } = volume.secrets;
  const secrets = secret === undefined ? new Map() : await context.csi.secret(secret);
  const directory = volumeDirectory(settings, volume);
  const path = stagingPathIn(directory);
  takeAlone(context, desired.name, directory);
  const asked = withStage(recordOf(context, desired.name), desired, volume, { context, path, ...capabilities });
  await journal.put(asked);
  await makeDirectory(context, mountsIn(directory));
  if (!capabilities.stageUnstage) {
    await journal.put(ready(asked));
    return;
  }
  await makeDirectory(context, path);
  await callDriver(context, asked, "NodeStageVolume", (service) =>
    service.stage({
      volumeID: volume.volumeHandle,
      publishContext: volume.publishContext,
      stagingPath: path,
      capability: capabilityOf(volume, capabilities, csiStageOf(asked).csi),
      secrets,
      volumeContext: volume.volumeContext,
    }),
  );
  const table = await host.mountTable.read();
  const record = withAnswer(context, recordOf(context, desired.name));
  const layers = table.layers(path);
  if (layers.length > 1) {
    await journal.put(record);
    throw falseReply(volume.driver, "NodeStageVolume", `${layers.length} mounts are on ${path}`, path);
  }
  const mount = table.at(path); // a driver may stage without a mount: of a block device, or by its own means
  if (mount === undefined && record.stage?.identity !== undefined) {
    await journal.put(record);
    throw falseReply(volume.driver, "NodeStageVolume", `${path}, which it had mounted, is not mounted`, path);
  }
  const seen = await withShown(context, record, mount);
  await journal.put(ready(seen, mount && { identity: mountIdentity(mount), ...deviceOf(mount.device) }));
}

/**
 * A volume has one staging path on a node (CSI), and so one intent: of two that name it, by a claim and by its handle
 * perhaps, the first is its user, and another would unstage it under that one (safety rule 13).
 */
function takeAlone({ journal, csi }: ActionContext, volume: VolumeName, directory: string): void {
  const other =
    [...journal.records.values()].find(({ name, stage }) => name !== volume && stage?.csi?.directory === directory)
      ?.name ?? csi.takeDirectory(directory);
  if (other !== undefined) {
    const message = `${other} has this volume of the driver on this node: only one may`;
    throw new VolumeError("VolumeHeldElsewhere", "transient", message, {
      on: { kind: "NodeVolumeIntent", name: other },
    });
  }
}

/**
 * Where nothing is attached, a volume that has to be is not begun, however it came by its grant. What is set up stays
 * in use. (kubelet: enableControllerAttachDetach; by itself neither attaches)
 */
function refuseAttached(
  { journal, settings }: ActionContext,
  volume: VolumeName,
  { attached, driver }: CSIVolume,
): void {
  const { controllerAttachDetach = true } = settings;
  if (controllerAttachDetach || !attached || journal.records.get(volume)?.stage !== undefined) return;
  const message = `driver ${driver} attaches volumes, and the agent of this node runs with --controller-attach-detach=false`;
  throw new VolumeError("AttachNotManaged", "final", message, { on: { kind: "CSIDriver", name: driver } });
}

async function makeDirectory({ effects, host, settings }: ActionContext, path: string): Promise<void> {
  if ((await host.mountTable.read()).layers(path).length > 0) return; // what is mounted there may hang
  await effects.mounter.makeTarget({ prefix: settings.csiDir, path }, "directory");
}

/** The record before the first call: driver, handle and paths are enough to undo whatever comes of it. */
function withStage(
  record: VolumeRecord,
  desired: DesiredVolume,
  { driver, volumeHandle, block }: CSIVolume,
  { context, path, ...capabilities }: { context: ActionContext; path: string } & NodeCapabilities,
): VolumeRecord {
  const before = record.stage?.csi;
  const { takesGroup: _takes, mountGroup: _group, seLinuxLabel: _label, ...kept } = before ?? {};
  const csi: CSIRecord = {
    ...kept,
    driver,
    volumeHandle,
    directory: volumeDirectory(context.settings, { driver, volumeHandle }),
    needsUnstage: capabilities.stageUnstage || before?.needsUnstage === true,
    block,
    shown: before?.shown ?? [],
    calls: before?.calls ?? {},
    ...toldOwnership(desired, record, context.settings, capabilities),
  };
  const fileKind = block ? "file" : "directory";
  const { identity, deviceNumber } = record.stage ?? {};
  const known = { ...(identity && { identity }), ...(deviceNumber !== undefined && { deviceNumber }) };
  return {
    ...record,
    stage: { kind: "csi", path, ready: false, options: desired.layout.options, fileKind, ...known, csi },
  };
}

function ready(record: VolumeRecord, facts: Partial<StageRecord> | undefined = {}): VolumeRecord {
  const { stage } = record;
  return stage === undefined ? record : { ...record, stage: { ...stage, ready: true, ...facts } };
}

/** A number that the kernel made up is no device. */
function deviceOf(device: string): Pick<StageRecord, "deviceNumber"> {
  return device.startsWith("0:") ? {} : { deviceNumber: device };
}
