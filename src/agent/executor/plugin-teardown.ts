import type { UnmountMode } from "../../host/ports/host-ports.ts";
import { type DetachablePlugin, isDetachable, type TearDownContext } from "../../plugins/api/teardown.ts";
import { plugins } from "../../plugins/registry.ts";
import type { VolumeName } from "../model/identities.ts";
import type { VolumeRecord } from "../model/volume-record.ts";
import { type ActionContext, recordOf, stagingTarget } from "./operation-context.ts";
import { unmount } from "./publish.ts";

/**
 * Has a plugin that mounts by means of its own unmount by them.
 * @returns whether nothing is left of it, by the mount table; else it is unmounted as any other staged file system
 */
export async function unmountByPlugin(
  context: ActionContext,
  volume: VolumeName,
  unmountMode: UnmountMode,
): Promise<boolean> {
  const record = recordOf(context, volume);
  const { undo } = record.stage ?? {};
  if (undo === undefined) return false;
  const by = tearDownContext(context, record, unmountMode);
  await detachablePlugin(record).unmountStaged?.(undo, by);
  return (await by.tableNow()).layers(by.stagingTarget.path).length === 0;
}

/**
 * Has a plugin undo what it did besides the mount, once no process on the node uses the volume. After that, users are
 * not searched any more: the device and its number may belong to another volume as soon as it is detached.
 */
export async function detachByPlugin(
  context: ActionContext,
  volume: VolumeName,
  unmountMode: UnmountMode,
): Promise<void> {
  const record = recordOf(context, volume);
  const { stage } = record;
  if (stage?.undo === undefined) return;
  await context.journal.put({ ...record, stage: { ...stage, ready: false, detaching: true } });
  await detachablePlugin(record).detach(stage.undo, tearDownContext(context, record, unmountMode));
}

function detachablePlugin({ name, type }: VolumeRecord): DetachablePlugin {
  const plugin = plugins[type];
  if (isDetachable(plugin)) return plugin;
  throw new Error(`${name} has something to be undone on record, and ${type} undoes nothing: use the newer agent`);
}

/**
 * The context in which a plugin undoes what its stage did. `others` are the undo data of other staged volumes of the
 * same type: a session or device that they use stays.
 */
export function tearDownContext(
  context: ActionContext,
  record: VolumeRecord,
  unmountMode: UnmountMode,
): TearDownContext {
  const { effects, host, settings, progress, journal } = context;
  const { key, type } = record;
  return {
    ...effects,
    directories: host.directories,
    stagingTarget: stagingTarget(context, record),
    hostRoot: settings.hostRoot,
    vendors: context.vendors,
    others: () =>
      [...journal.records.values()].flatMap(({ key: other, type: its, stage: { undo, detaching } = {} }) =>
        other !== key && its === type && detaching !== true && undo !== undefined ? [undo] : [],
      ),
    unmountMode,
    tableNow: () => host.mountTable.read(),
    async unmount(target) {
      const mount = (await host.mountTable.read()).at(target.path);
      if (mount !== undefined) await unmount({ ...context, uniqueID: mount.uniqueID }, target, mount.id, unmountMode);
    },
    progress,
  };
}
