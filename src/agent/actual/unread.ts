import { sameFilesystem, sameIdentity } from "../../host/mount-table/mount-table.ts";
import type { MountEntry } from "../../host/mount-table/mountinfo.ts";
import type { ActualStateInput } from "../model/actual-input.ts";
import type { Problem, UnreadView } from "../model/actual-volume.ts";
import type { InvalidVolume } from "../model/desired.ts";
import type { MountPath } from "../model/identities.ts";
import { podTargetPath } from "../model/pod-path.ts";
import { nameOf, releaseCommand, tableUnreadable } from "./mount-problems.ts";

type UnreadInput = ActualStateInput & { readonly unread: InvalidVolume };

/**
 * PURE. The view of a volume whose intent is not understood. Without a spec, a mount without a record cannot be
 * compared with its source. Any mount at a path where the intent may have one counts as its own, unless the record of
 * another volume covers it; paths that cannot be checked count as in use (laws L2 and L7, safety rules 6 and 24).
 */
export function observeUnread(input: UnreadInput): UnreadView | undefined {
  const { unread: volume, record, mayHaveLost, table } = input;
  if (volume.mayHave === undefined) return undefined;
  const staging = record === undefined ? [input.stagingPath] : [];
  const paths = mayHaveLost ? unrecordedPaths(input) : [];
  const points = [...staging, ...paths];
  if (table === undefined) return { points, ...(record === undefined && { problem: tableUnreadable }) };
  const found =
    staging.flatMap((path) => table.layers(path))[0] ??
    paths.flatMap((path) => table.layers(path)).find((mount) => mayBeOfIt(mount, input));
  if (found !== undefined) return { points, problem: problemOf(volume, found) };
  if (!mayHaveLost || record !== undefined) return { points };
  const { paths: known, byDriver } = volume.mayHave;
  const unseen = known === undefined || byDriver;
  return { points, ...(unseen && { problem: unseenProblem(volume) }) };
}

/** Where it asks to be mounted, and no record says that it is. */
function unrecordedPaths({ unread: { mayHave }, record, settings: { kubeletDir } }: UnreadInput): MountPath[] {
  const ofPods = kubeletDir === undefined ? [] : (mayHave?.pods ?? []).map((pod) => podTargetPath(kubeletDir, pod));
  const recorded = new Set(record?.targets.map(({ path }) => path));
  return [...(mayHave?.paths ?? []), ...ofPods].filter((path) => !recorded.has(path));
}

/** A record without such a target says that a mount there is not ours, but for what shows what is staged (adoptOwn). */
function mayBeOfIt(mount: MountEntry, { record, identifyMount }: UnreadInput): boolean {
  if (record === undefined) return identifyMount(mount) !== "other";
  const { kind, identity } = record.stage ?? {};
  if (identity === undefined) return false;
  if (kind === "directory") return sameIdentity(mount, identity);
  return kind === "filesystem" && sameFilesystem(mount, identity);
}

function problemOf({ name, problem }: InvalidVolume, mount: MountEntry): Problem {
  const path = mount.point;
  const message = `${path} has ${nameOf(mount)} mounted, which may be this volume's: the agent's record of it may be lost, and the intent is ${problem}. Have it understood, or unmount it; if it is somebody else's: ${releaseCommand(name)}`;
  return { reason: "Invalid", message, on: { kind: "Mount", name: path } };
}

/** Where there is nothing to be seen, and that says nothing. */
function unseenProblem({ name, problem }: InvalidVolume): Problem {
  const message = `parts of it may be on the node that the mount table does not show: the agent's record of it may be lost, and the intent is ${problem}. Correct that; if nothing is left: ${releaseCommand(name)}`;
  return { reason: "Invalid", message };
}
