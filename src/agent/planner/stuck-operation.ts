import { remoteMountOn } from "../../host/mount-table/may-block.ts";
import type { MountTable } from "../../host/mount-table/mount-table.ts";
import { describeRemote, type RemoteMount, waitedFor } from "../../host/ports/servers.ts";
import type { Problem } from "../model/actual-volume.ts";
import { type Desired, isInvalid } from "../model/desired.ts";
import type { VolumeName } from "../model/identities.ts";
import { hostSource, type PlanInput, type PlanSettings } from "../model/plan-input.ts";
import type { VolumeRecord } from "../model/volume-record.ts";

/** PURE. What a volume waits for whose child does not end; undefined if it has none. */
export function stuckProblem(
  name: VolumeName,
  { stuckOperations, settings, table }: PlanInput,
  { desired, record }: { readonly desired: Desired | undefined; readonly record: VolumeRecord | undefined },
): Problem | undefined {
  const child = stuckOperations?.get(name);
  if (child === undefined) return undefined;
  if ("entries" in child) {
    const { path, fsGroup, entries } = child;
    const message = `the files of ${path} are being given to group ${fsGroup}, ${entries} so far: fsGroupChangePolicy OnRootMismatch would skip that where the root directory fits`;
    return { reason: "VolumePermissionChangeInProgress", message, on: { kind: "Mount", name: path } };
  }
  if ("driver" in child) {
    const message = `the CSI driver ${child.driver} has not answered ${child.method} yet: see the log of its node plugin`;
    return { reason: "NotAnswering", message, on: { kind: "CSIDriver", name: child.driver } };
  }
  const remote = child.waitsFor ?? firstRemote(pathsOf(desired, record, settings), table);
  const whom = remote === undefined ? "a device or server that does not answer" : describeRemote(remote);
  if (child.abandoned) {
    const message = `abandoned process ${child.pid} has not exited: it is blocked in the kernel waiting for ${whom}`;
    return { reason: "OperationAbandoned", message, on: { kind: "Process", name: `${child.pid}` } };
  }
  const message = `process ${child.pid} waits for ${whom}`;
  const on = remote === undefined ? { kind: "Process", name: `${child.pid}` } : waitedFor(remote);
  return { reason: "NotAnswering", message, on };
}

/** Everything that a child of the volume may have been told to look up, as the agent sees it. */
function pathsOf(desired: Desired | undefined, record: VolumeRecord | undefined, settings: PlanSettings): string[] {
  const source = desired === undefined || isInvalid(desired) ? undefined : desired.layout.hostPath;
  const mounts = desired === undefined || isInvalid(desired) ? [] : desired.mounts;
  return [
    ...(source === undefined ? [] : [hostSource(settings, source)]),
    ...(record?.stage === undefined ? [] : [record.stage.path]),
    ...[...mounts, ...(record?.targets ?? [])].map((target) => target.path),
  ];
}

function firstRemote(paths: readonly string[], table: MountTable | undefined): RemoteMount | undefined {
  for (const path of table === undefined ? [] : paths) {
    const mount = table && remoteMountOn(table, path);
    if (mount !== undefined) return mount;
  }
  return undefined;
}
