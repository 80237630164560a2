import type { ISCSIVolumeSource } from "../../api/types.gen.ts";
import { VolumeError } from "../../errors.ts";
import { foundSource } from "../found-source.ts";
import { stagedPath } from "../host-path.ts";
import { stageDevice } from "../local-device.ts";
import type { StageContext, Staged, VolumeSpec } from "../plugin.ts";
import { attach, type LunDevice, prove } from "./attach.ts";
import { chapOf } from "./credentials.ts";
import { interfaceOf, portalsOf, undoOf } from "./lun.ts";

/** What there is to undo is on record before anything is done, and what there was already is taken as it is. */
export async function stageLun(spec: VolumeSpec, source: ISCSIVolumeSource, context: StageContext): Promise<Staged> {
  const { stagingMount, stagingTarget, found: before, hostRoot, mounter } = context;
  const by = interfaceOf(source);
  const { iqn, lun, readOnly = false, fsType } = source;
  const own = { iqn, lun, interface: by.name, portals: portalsOf(source) };
  const isBlock = spec.volumeMode === "Block";
  const known = before?.deviceNumber === undefined ? {} : { found: before, deviceNumber: before.deviceNumber };
  const kind = isBlock ? "device" : "filesystem";
  await context.record({ kind, path: stagingTarget.path, ...known, undo: undoOf(own) });
  const how = { ...spec, ...(fsType !== undefined && { fsType }) };
  if (stagingMount !== undefined && before?.deviceNumber !== undefined) {
    return stageDevice(how, { ...before, deviceNumber: before.deviceNumber }, context, { readOnly });
  }
  const chap = chapOf(source, context.content?.[0]);
  const device = await attach({ lun: own, source, by, chap }, context);
  const { name, deviceNumber } = device;
  const path = `/dev/${name}`;
  const info = await mounter.inspect({ root: hostRoot, path });
  if (info?.deviceNumber !== deviceNumber) {
    const message = `${path} does not stand for the disk ${deviceNumber} of ${iqn}, LUN ${lun}, on the node: it is looked for anew`;
    throw new VolumeError("DiskNotFound", "transient", message, { on: { kind: "Device", name: path } });
  }
  const found = foundSource(path, info, context);
  // Of a raw device that is there, whatever a pod has made of it claims it.
  if (!isBlock || before?.deviceNumber !== deviceNumber) await refuseClaimed(device, context);
  const still = () => prove(own, device, context);
  if (!isBlock) return stageDevice(how, { ...found, deviceNumber }, context, { readOnly, still });
  await still();
  await context.record({ kind, path: found.path, found, deviceNumber });
  return { ...stagedPath(info, found), kind, deviceNumber };
}

/** Also of paths that are not used: each is a device of its own to the kernel, which keeps nobody off the others. */
async function refuseClaimed({ ways }: LunDevice, { devices, scsi, hostRoot }: StageContext): Promise<void> {
  const { disks } = await scsi.look(hostRoot);
  const known = disks.flatMap(({ name, deviceNumber, map }) => [
    { name, deviceNumber },
    ...(map ? [{ name: map.device, deviceNumber: map.deviceNumber }] : []),
  ]);
  for (const way of ways) {
    const deviceNumber = known.find(({ name }) => name === way)?.deviceNumber;
    const path = `${hostRoot === "/" ? "" : hostRoot}/dev/${way}`;
    const claim = deviceNumber === undefined ? undefined : await devices.claim(path, deviceNumber);
    if (claim === undefined) continue;
    throw new VolumeError("DeviceBusy", "transient", claim, { on: { kind: "Device", name: `/dev/${way}` } });
  }
}
