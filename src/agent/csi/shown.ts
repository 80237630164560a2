import { identityOf, sameIdentity } from "../../host/mount-table.ts";
import type { MountEntry } from "../../host/mountinfo.ts";
import type { ActionContext } from "../actions/context.ts";
import type { ShownByDriver, VolumeRecord } from "../record.ts";
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
  const same = (known: ShownByDriver) =>
    sameIdentity(known.identity, found.identity) &&
    (found.device === undefined || known.device?.disk === found.device.disk);
  return shown.some(same) ? record : withCSI(record, { shown: [...shown, found] });
}

async function shownBy({ host }: ActionContext, mount: MountEntry): Promise<ShownByDriver> {
  const identity = identityOf(mount);
  const { device: number, source: path } = mount;
  if (number.startsWith("0:") || !path.startsWith("/")) return { identity };
  const disk = await host.evidence.diskSequence(number);
  return { identity, device: { number, path, ...(disk !== undefined && { disk }) } };
}
