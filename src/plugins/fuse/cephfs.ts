import type { CephFSVolumeSource } from "../../api/types.gen.ts";
import { VolumeError } from "../../errors.ts";
import { secretFile } from "../../host/clients.ts";
import { cephArgs, cephErrno, cephKey, keyRef, lastLine, refusedUser } from "../ceph.ts";
import type { StageContext, UndoingPlugin, VolumeSpec } from "../plugin.ts";
import { type ClientPlace, endClient, type FuseVolume, stageByClient } from "./client.ts";

/** Seconds that ceph-fuse waits for monitors and an MDS: less than the agent waits for ceph-fuse, so that it can say what it waited for. */
const mountTimeout = 30;

/**
 * A directory of a CephFS, mounted once on the node by a ceph-fuse(8) of its own, with the key by descriptor.
 * (kubelet: pkg/volume/cephfs, until 1.30)
 */
export const cephfs: UndoingPlugin = {
  type: "cephfs",

  layout(spec) {
    const source = sourceOf(spec);
    return {
      options: spec.mountOptions,
      readOnly: source.readOnly === true,
      devices: false,
      filesystem: { types: [fsType], source: shownAs(source), own: false },
      content: [keyRef(source)],
      credentials: true,
    };
  },

  stage: (spec, context) => stageByClient(volumeOf(sourceOf(spec), context), context),
  detach: endClient,
};

const fsType = "fuse.ceph-fuse";

function volumeOf(source: CephFSVolumeSource, context: StageContext): FuseVolume {
  const shown = shownAs(source);
  return {
    fsType,
    source: shown,
    program: "ceph-fuse",
    args: (place) => cephFuseArgs(source, place),
    secret: cephKey(context.content?.[0], source),
    failure: (words) => refusedUser(words, shown, source) ?? notFound(words, shown),
  };
}

/** PURE. The Secret's key is read of a descriptor: an argument can be seen by everybody on the node. */
export function cephFuseArgs(source: CephFSVolumeSource, { target, pidFile, log }: ClientPlace): string[] {
  const flags = ["nosuid", "nodev", ...(source.readOnly === true ? ["ro"] : [])];
  return [
    ...cephArgs(source, secretFile),
    `--client-mountpoint=${pathOf(source)}`,
    `--client-mount-timeout=${mountTimeout}`,
    "--client-acl-type=posix_acl",
    `--log-file=${log}`,
    `--pid-file=${pidFile}`,
    "-o",
    [...flags, "subtype=ceph-fuse", `fsname=${shownAs(source)}`].join(","),
    target,
  ];
}

/** PURE. */
function notFound(words: string, source: string): VolumeError | undefined {
  if (cephErrno(words) !== 2) return undefined;
  const message = `${source}: the file system has no such directory (${lastLine(words)}): correct path`;
  return new VolumeError("ShareNotFound", "final", message, { on: { kind: "Server", name: source } });
}

/** The mount table has the first monitor, whichever has answered. */
function shownAs(source: CephFSVolumeSource): string {
  return `${source.monitors[0]}:${pathOf(source)}`;
}

function pathOf({ path = "/" }: CephFSVolumeSource): string {
  return path;
}

function sourceOf(spec: VolumeSpec): CephFSVolumeSource {
  if (spec.source.cephfs === undefined) throw new Error("not a cephfs volume");
  return spec.source.cephfs;
}
