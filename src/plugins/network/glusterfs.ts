import type { GlusterfsVolumeSource } from "../../api/types.gen.ts";
import type { DetachablePlugin } from "../api/teardown.ts";
import { sourceOf, type VolumeSpec } from "../api/volume-plugin.ts";
import { type ClientPlace, endClient, type FuseVolume, stageByClient } from "./fuse-client.ts";

/**
 * A GlusterFS volume, mounted once on the node by a glusterfs(8) of its own: started itself, and not by
 * mount.glusterfs(8), which is a shell script that puts the same arguments together. (kubelet: pkg/volume/glusterfs,
 * until 1.25)
 */
export const glusterfs: DetachablePlugin = {
  type: "glusterfs",

  layout: (spec) => ({
    options: spec.mountOptions,
    readOnly: sourceOf(spec, "glusterfs").readOnly === true,
    devices: false,
    filesystem: { types: ["fuse.glusterfs"], source: shownAs(spec), own: false },
  }),

  stage: (spec, context) => stageByClient(volumeOf(spec), context),
  detach: endClient,
};

function volumeOf(spec: VolumeSpec): FuseVolume {
  return {
    fsType: "fuse.glusterfs",
    source: shownAs(spec),
    program: "glusterfs",
    args: (place) => glusterfsArgs(sourceOf(spec, "glusterfs"), spec.mountOptions, place),
  };
}

/** PURE. The arguments that mount.glusterfs(8) would give, and nosuid, nodev, and only errors in the log. */
export function glusterfsArgs(
  { servers, path, readOnly }: GlusterfsVolumeSource,
  options: readonly string[],
  { target, pidFile, log }: ClientPlace,
): string[] {
  const [volume = "", ...directories] = path.split("/");
  return [
    ...servers.map((server) => `--volfile-server=${bare(server)}`),
    `--volfile-id=/${volume}`,
    ...(directories.length > 0 ? [`--subdir-mount=/${directories.join("/")}`] : []),
    ...(readOnly === true ? ["--read-only"] : []),
    ...options.map((option) => `--${option}`),
    "--fuse-mountopts=nosuid,nodev",
    "--process-name=fuse",
    "--log-level=ERROR",
    `--log-file=${log}`,
    `--pid-file=${pidFile}`,
    target,
  ];
}

/** The mount table has the first server, whichever has answered. */
function shownAs(spec: VolumeSpec): string {
  const { servers, path } = sourceOf(spec, "glusterfs");
  return `${bare(servers[0] ?? "")}:/${path}`;
}

/** glusterfs(8) takes IPv6 addresses without brackets. */
function bare(server: string): string {
  return server.replace(/^\[|\]$/g, "");
}
