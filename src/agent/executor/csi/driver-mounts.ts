import { mountIdentity, sameIdentity } from "../../../host/mount-table/mount-table.ts";
import type { MountEntry } from "../../../host/mount-table/mountinfo.ts";
import { isReadOnly } from "../../actual/published-mount.ts";
import type { DriverMounts, VolumeRecord } from "../../model/volume-record.ts";
import type { ActionContext } from "../operation-context.ts";
import { csiStageOf, withCSI } from "./driver-call.ts";

/** The record with what the driver has mounted at a path, if anything: the release has to know it. */
export async function withShown(
  context: ActionContext,
  record: VolumeRecord,
  mount: MountEntry | undefined,
): Promise<VolumeRecord> {
  if (mount === undefined) return record;
  const { shown } = csiStageOf(record).csi;
  const found = await shownBy(context, mount);
  const same = (known: DriverMounts) =>
    sameIdentity(known.identity, found.identity) &&
    (found.device === undefined || known.device?.disk === found.device.disk);
  return shown.some(same) ? record : withCSI(record, { shown: [...shown, found] });
}

async function shownBy({ host }: ActionContext, mount: MountEntry): Promise<DriverMounts> {
  const { device: number, source: path } = mount;
  const shown = { identity: mountIdentity(mount), ...(!isReadOnly(mount) && { writable: true }) };
  if (number.startsWith("0:") || !path.startsWith("/")) return shown;
  const disk = await host.evidence.diskSequence(number);
  return { ...shown, device: { number, path, ...(disk !== undefined && { disk }) } };
}
