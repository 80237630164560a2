import type { CephFSVolumeSource } from "../../api/types.gen.ts";
import { VolumeError } from "../../errors.ts";
import { cephErrno } from "../../host/ports/ceph.ts";
import { secretFile } from "../../host/ports/programs.ts";
import type { StageContext, Staged } from "../api/volume-plugin.ts";
import { cephArgs, cephKey, lastLine, refusedUser } from "./ceph.ts";
import { type ClientPlace, stageByClient } from "./fuse-client.ts";

/** The file system type that the kernel lists for mounts of ceph-fuse(8). */
export const cephFuseType = "fuse.ceph-fuse";
/**
 * Seconds that ceph-fuse waits for monitors and an MDS: less than the agent waits for ceph-fuse, so that it can say
 * what it waited for.
 */
const mountTimeout = 30;

/** Mounts by a ceph-fuse(8), with the key by descriptor. */
export function stageByCephFuse(source: CephFSVolumeSource, context: StageContext): Promise<Staged> {
  const shown = cephFuseSource(source);
  const volume = {
    fsType: cephFuseType,
    source: shown,
    program: "ceph-fuse",
    args: (place: ClientPlace) => cephFuseArgs(source, place),
    secret: cephKey(context.content?.[0], source),
    failure: (words: string) => refusedUser(words, shown, source) ?? notFound(words, shown),
  };
  return stageByClient(volume, context);
}

/** PURE. The Secret's key is read of a descriptor: an argument can be seen by everybody on the node. */
export function cephFuseArgs(source: CephFSVolumeSource, { target, pidFile, log }: ClientPlace): string[] {
  const { path = "/", fsName, readOnly } = source;
  const flags = ["nosuid", "nodev", ...(readOnly === true ? ["ro"] : [])];
  return [
    ...cephArgs(source, secretFile),
    ...(fsName === undefined ? [] : [`--client-fs=${fsName}`]),
    `--client-mountpoint=${path}`,
    `--client-mount-timeout=${mountTimeout}`,
    "--client-acl-type=posix_acl",
    `--log-file=${log}`,
    `--pid-file=${pidFile}`,
    "-o",
    [...flags, "subtype=ceph-fuse", `fsname=${cephFuseSource(source)}`].join(","),
    target,
  ];
}

/** PURE. The mount table has the first monitor, whichever has answered. */
export function cephFuseSource({ monitors, path = "/" }: CephFSVolumeSource): string {
  return `${monitors[0]}:${path}`;
}

function notFound(words: string, source: string): VolumeError | undefined {
  if (cephErrno(words) !== 2) return undefined;
  const message = `${source}: the file system has no such directory (${lastLine(words)}): correct path`;
  return new VolumeError("ShareNotFound", "final", message, { on: { kind: "Server", name: source } });
}
