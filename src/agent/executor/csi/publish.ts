import { VolumeError } from "../../../errors.ts";
import { type MountIdentity, type MountTable, mountIdentity } from "../../../host/mount-table/mount-table.ts";
import type { CSIVolume } from "../../../plugins/api/volume-plugin.ts";
import type { DesiredVolume } from "../../model/desired.ts";
import type { VolumeName } from "../../model/identities.ts";
import { type Published, type TargetRecord, type VolumeRecord, withTarget } from "../../model/volume-record.ts";
import { type ActionContext, recordOf } from "../operation-context.ts";
import { callDriver, csiStageOf, driverNamed, withAnswer, withCSI } from "./driver-call.ts";
import { withShown } from "./driver-mounts.ts";
import { publishPathIn } from "./paths.ts";
import { publishCall } from "./publish-request.ts";
import { falseReply } from "./reply.ts";

/**
 * Has the driver publish the volume for one target, on a path of its own, and looks whether it did.
 * @param target its record with what is known before; it is written down with the publish path first
 * @returns what a bind of it shows
 */
export async function publishByDriver(
  context: ActionContext,
  desired: DesiredVolume,
  volume: CSIVolume,
  target: TargetRecord,
): Promise<Published & { readonly identity: MountIdentity }> {
  const { journal, host } = context;
  const { node } = driverNamed(context, volume.driver);
  const capabilities = await node.capabilities();
  const { directory } = csiStageOf(recordOf(context, desired.name)).csi;
  const { readOnly } = target.attributes;
  const published: Published = { path: publishPathIn(directory, target.path), readOnly };
  const { request, identity: as } = await publishCall(context, volume, {
    ...{ name: desired.name, capabilities, target, published },
  });
  const record = recordOf(context, desired.name);
  try {
    await callDriver(context, withTarget(record, { ...target, published }), "NodePublishVolume", (service) =>
      service.publish(request),
    );
  } catch (error) {
    if (capabilities.stageUnstage) await doubtStage(context, desired.name, error);
    throw error;
  }
  if (as !== undefined) context.csi.identities.given(target.path, as);
  const table = await host.mountTable.read();
  const mount = table.at(published.path);
  const answer = withAnswer(context, await withShown(context, recordOf(context, desired.name), mount));
  const wrong = await whatIsWrong(context, volume, published.path, table);
  if (wrong !== undefined) {
    await journal.put(withTarget(answer, { ...target, published: { ...published, refuted: true } }));
    throw falseReply(volume.driver, "NodePublishVolume", wrong, published.path);
  }
  const identity = mount === undefined ? undefined : mountIdentity(mount);
  if (identity === undefined) throw new Error(`${published.path} is mounted, but not in the table`);
  const done = { ...published, identity, ...(volume.requiresRepublish && { at: context.csi.now() }) };
  await journal.put(withTarget(await withDevice(context, answer, published.path), { ...target, published: done }));
  return done;
}

/**
 * A driver that refuses NodePublishVolume may not have staged, although it returned OK, or its earlier version had no
 * NodeStageVolume. If no mount on the staging path proves the opposite, NodeStageVolume is called again first.
 */
async function doubtStage(context: ActionContext, volume: VolumeName, error: unknown): Promise<void> {
  const record = recordOf(context, volume);
  const stage = csiStageOf(record);
  const refused = error instanceof VolumeError && error.errorClass === "final";
  if (!refused || stage.identity !== undefined) return;
  await context.journal.put({ ...record, stage: { ...stage, ready: false } });
}

/** The difference between the mount table, or the device node, and the request; undefined if there is none. */
async function whatIsWrong(
  { effects }: ActionContext,
  { block }: CSIVolume,
  path: string,
  table: MountTable,
): Promise<string | undefined> {
  const layers = table.layers(path);
  if (layers.length === 0) return `nothing is mounted on ${path}`;
  if (layers.length > 1 || table.at(path) === undefined) return `${layers.length} mounts are on ${path}`;
  const kind = (await effects.mounter.inspect({ root: "/", path }))?.kind;
  const wanted = block ? "blockDevice" : "directory";
  return kind === wanted ? undefined : `${path} is a ${kind ?? "path that is gone"}, not a ${wanted}`;
}

/** Of volumeMode Block: which device it is that was published. */
async function withDevice({ effects, host }: ActionContext, record: VolumeRecord, path: string): Promise<VolumeRecord> {
  const { csi, ...stage } = csiStageOf(record);
  if (!csi.block) return record;
  const number = (await effects.mounter.inspect({ root: "/", path }))?.deviceNumber;
  if (number === undefined) return record;
  const disk = await host.evidence.diskSequence(number);
  const mount = (await host.mountTable.read()).at(path);
  const node = mount?.fsType === "devtmpfs" ? `/dev${mount.root}` : path;
  const device = { number, path: node, ...(disk !== undefined && { disk }) };
  const shown = csi.shown.map((known) => (known.device === undefined ? { ...known, device } : known));
  return withCSI({ ...record, stage: { ...stage, csi, deviceNumber: number } }, { shown });
}
