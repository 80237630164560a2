import type { CephFSVolumeSource } from "../../api/types.gen.ts";
import { optionName } from "../../api/values/mount-options.ts";
import type { StageContext, Staged } from "../api/volume-plugin.ts";
import { stageFilesystem } from "../staging.ts";
import { type CephPlace, cephKey, defaultUser } from "./ceph.ts";

/** The port of Ceph's older protocol, and of the newer one. */
const ports = { legacy: 6789, msgr2: 3300 } as const;
/**
 * What Ceph's own programs take where nobody says how the newer protocol is to be spoken: checksums, encrypted if the
 * cluster insists.
 */
const usualMode = "prefer-crc";

/**
 * Seconds that the kernel waits for a monitor, then for an MDS, at the mount: the two together take less than the agent
 * waits for its child, so that the kernel can say what it waited for.
 */
const mountTimeout = 30;

/**
 * Mounts a directory of a CephFS by the kernel's own client, without mount.ceph(8): user and key are said to the kernel
 * by a system call.
 */
export function stageByKernel(
  source: CephFSVolumeSource,
  mountOptions: readonly string[],
  context: StageContext,
): Promise<Staged> {
  const credentials = { username: source.user ?? defaultUser, password: cephKey(context.content?.[0], source) };
  const mount = { fsType: "ceph", source: kernelSource(source, mountOptions), credentials };
  return stageFilesystem(context, { ...mount, options: kernelOptions(source, mountOptions) }, source.readOnly === true);
}

/**
 * PURE. What the kernel is told, and shows: all monitors, each with its port, and the directory. The way of writing it
 * that all kernels know: that of 5.17 wants the cluster's id.
 */
export function kernelSource({ monitors, path = "/" }: CephPath, mountOptions: readonly string[]): string {
  const port = ports[modeOf(monitors, mountOptions) === undefined ? "legacy" : "msgr2"];
  return `${monitors.map((monitor) => (portOf(monitor) === undefined ? `${monitor}:${port}` : monitor)).join(",")}:${path}`;
}

/**
 * PURE. What the kernel is told beside source, user and key. `noshare`: the superblock is ours alone, so that what is
 * known of it at the release is not of somebody else's mount of the same directory, and no other's options or session
 * are taken for ours. `norequire_active_mds`: an MDS is waited for, too, so that a failure before that is a refusal.
 */
export function kernelOptions(source: CephPath, mountOptions: readonly string[]): string[] {
  const { monitors, fsName, readOnly } = source;
  const mode = modeOf(monitors, mountOptions);
  return [
    ...mountOptions.filter((option) => optionName(option) !== "ms_mode"),
    ...(mode === undefined ? [] : [`ms_mode=${mode}`]),
    ...(fsName === undefined ? [] : [`mds_namespace=${fsName}`]),
    ...(readOnly === true ? ["ro"] : []),
    `mount_timeout=${mountTimeout}`,
    "norequire_active_mds",
    "noshare",
  ];
}

type CephPath = Pick<CephFSVolumeSource, "path" | "fsName" | "readOnly"> & Pick<CephPlace, "monitors">;

/**
 * PURE. How the newer protocol is spoken; undefined: the older one is. A monitor that listens at its own port for the
 * one does not speak the other there.
 */
function modeOf(monitors: readonly string[], mountOptions: readonly string[]): string | undefined {
  const said = mountOptions.find((option) => optionName(option) === "ms_mode")?.slice("ms_mode=".length);
  if (said !== undefined) return said === "legacy" ? undefined : said;
  return monitors.every((monitor) => portOf(monitor) === ports.msgr2) ? usualMode : undefined;
}

/** PURE. `3300` of `10.0.0.1:3300` and of `[fd00::1]:3300`. */
function portOf(monitor: string): number | undefined {
  const port = /:(\d+)$/.exec(monitor.replace(/^\[.*\]/, ""))?.[1];
  return port === undefined ? undefined : Number(port);
}
