import { cut, timestamp } from "../../api/conditions.ts";
import type { Orphan } from "../../api/types.gen.ts";
import { shellWord } from "../../api/values/printable.ts";
import { isBeneath, type MountTable, sameFilesystem } from "../../host/mount-table/mount-table.ts";
import type { MountEntry } from "../../host/mount-table/mountinfo.ts";
import { isStatePath } from "../actual/state-path.ts";
import { pathOnHost } from "../model/plan-input.ts";
import { isOfKubelet } from "../model/pod-path.ts";
import type { VolumePlan } from "../model/volume-plan.ts";

/** Inputs of the search for orphans: mounts and directories beneath our directories that no volume's record names. */
export interface OrphansInput {
  readonly volumes: readonly VolumePlan[];
  readonly table: MountTable | undefined;
  readonly stateDir: string;
  readonly allowedPrefixes?: readonly string[] | undefined;
  readonly csiDir: string;
  /** Where the agent sees the node's root; "/" outside of a container. */
  readonly hostRoot: string;
  readonly kubeletDir?: string | undefined;
  /** What was reported last: since when. */
  readonly previous: readonly Orphan[];
  /** Wall time in milliseconds since the epoch. */
  readonly now: number;
}

type Found = Omit<Orphan, "since">;

const longest = 512;
/** Of a path, by the schema: where a mount is may be longer than what anybody asked for. */
const longestPath = 1024;

/**
 * PURE. Leftovers of volumes that no intent names, with the evidence: a record of the journal, or a mount of one of the
 * agent's directories. Only what is beyond doubt the agent's own: mounts of others beneath an allowed prefix are
 * theirs.
 */
export function orphansOf(input: OrphansInput): Orphan[] {
  const { volumes, table, stateDir, csiDir, previous, now } = input;
  const found = [
    ...volumes.filter(({ phase }) => phase === "unexplained").flatMap(ofRecord),
    ...(table === undefined
      ? []
      : [
          ...stagedWithoutRecord(volumes, table, `${stateDir}/staging`),
          ...stagedWithoutRecord(volumes, table, csiDir),
          ...ofOurData(input, table),
        ]),
  ];
  return found.map((orphan) => {
    const shown = cut(orphan.path, longestPath);
    const before = previous.find(({ path, reason }) => path === shown && reason === orphan.reason);
    return { ...orphan, path: shown, since: before?.since ?? timestamp(now) };
  });
}

/** What the journal has of a volume whose intent is gone. */
function ofRecord({ name, record, actualState }: VolumePlan): Found[] {
  if (record === undefined) return [];
  const retained = record.retained === true;
  const why = retained ? "left on purpose (deletionPolicy Retain)" : "which vanished without being deleted";
  const base = { volume: name, reason: retained ? "Retained" : "UnexplainedRemoval" };
  const child = record.child === undefined ? "" : `; process ${record.child.pid} of it has not ended`;
  const because = (what: string) =>
    cut(`by the journal ${what} the intent ${name} (uid ${record.uid}), ${why}${child}`, longest);
  const mounted = actualState.targets.filter((target) => target.truth !== "absent");
  const targets = mounted.map(({ path, ours, foreign }): Found => {
    const at = ours?.point ?? path;
    return {
      ...base,
      path: at,
      kind: "Mount",
      ...shownBy(ours ?? foreign),
      message: because("mounted for"),
      remedy: remedyOf(unmounting(at), retained),
    };
  });
  if (targets.length > 0 || actualState.stage.record === undefined) return targets;
  const { kind, path, csi } = actualState.stage.record;
  const { mount } = actualState.stage;
  if (kind === "filesystem" && mount !== undefined) {
    const remedy = remedyOf(unmounting(path), retained);
    return [{ ...base, path, kind: "Staging", ...shownBy(mount), message: because("staged for"), remedy }];
  }
  if (csi !== undefined) {
    const byDriver = `umount what is beneath ${csi.directory}, of which ${csi.driver} may not be notified`;
    return [{ ...base, path, kind: "Record", message: because("staged for"), remedy: remedyOf(byDriver, retained) }];
  }
  const data =
    kind === "directory" ? `rm -r ${path}, if its data may go` : "nothing is mounted: the record goes by itself";
  return [{ ...base, path, kind: "Record", message: because("set up for"), remedy: remedyOf(data, retained) }];
}

/** Mounts beneath a directory of our own for staging, where nobody else mounts, that no record speaks of. */
function stagedWithoutRecord(volumes: readonly VolumePlan[], table: MountTable, root: string): Found[] {
  const ofDrivers = volumes.flatMap(({ record }) => record?.stage?.csi?.directory ?? []);
  const known = new Set(volumes.map(({ actualState: { stage } }) => stage.record?.path ?? stage.mount?.point));
  return table
    .beneath(root)
    .filter(({ point }) => point !== root && !known.has(point))
    .filter(({ point }) => !ofDrivers.some((directory) => isBeneath(point, directory)))
    .map((mount) => ({
      path: mount.point,
      kind: "Staging",
      reason: "UnexplainedRemoval",
      ...shownBy(mount),
      message: "it is beneath the agent's own staging directory, and no record of it is left",
      remedy: unmounting(mount.point),
    }));
}

/**
 * Mounts that show a data directory of ours on a path that no record and no intent has. In a container the agent sees
 * each mount of the node a second time, beneath hostRoot: it goes by the path that the node has for it.
 */
function ofOurData(input: OrphansInput, table: MountTable): Found[] {
  const { volumes, stateDir, allowedPrefixes = [], kubeletDir } = input;
  const isOurs = (path: string) => isStatePath(path, { stateDir, allowedPrefixes });
  const data = table.identityOf(`${stateDir}/data`);
  if (data === undefined || data.root === "/") return [];
  const known = new Set(
    volumes.flatMap(({ actualState }) => actualState.targets.flatMap(({ path, ours }) => [path, ours?.point])),
  );
  const found = table.entries
    .filter((mount) => sameFilesystem(mount, data) && mount.root !== data.root && isBeneath(mount.root, data.root))
    .map((mount) => ({ mount, path: pathOnHost(input, mount.point) }))
    .filter(({ path }) => !known.has(path) && !isOurs(path) && !isSubPath(kubeletDir, path));
  const own = new Set(found.filter(({ mount, path }) => mount.point === path).map(({ path }) => path));
  return found
    .filter(({ mount, path }) => mount.point === path || !own.has(path))
    .map(({ mount, path }) => ({
      path,
      kind: "Mount",
      reason: "UnexplainedRemoval",
      ...shownBy(mount),
      message: "it shows a data directory of the agent, and no record of it is left",
      remedy: unmounting(path),
    }));
}

/** Where kubelet binds a part of a volume for a container (subPath): what it has left of that is told apart. */
function isSubPath(kubeletDir: string | undefined, path: string): boolean {
  return isOfKubelet(kubeletDir, path) && path.split("/").includes("volume-subpaths");
}

/** PURE. What is mounted, for people. */
export function shownBy(mount: MountEntry | undefined): Pick<Orphan, "source" | "mountID"> {
  if (mount === undefined) return {};
  const { id, fsType, source, root } = mount;
  return { mountID: id, source: cut(`${fsType} (${source})${root === "/" ? "" : `, ${root} of it`}`, longest) };
}

/** PURE. A command that can be pasted, whoever chose the path. */
export function unmounting(path: string): string {
  const word = path.length > longest / 2 ? undefined : shellWord(path);
  return word === undefined ? "unmount it by the mountID, which /proc/self/mountinfo has" : `umount ${word}`;
}

function remedyOf(byHand: string, retained: boolean): string {
  return cut(
    retained ? `${byHand}; or make a set with the same volume and paths` : `apply its set again; or ${byHand}`,
    longest,
  );
}
