import { redact } from "../../../api/values/redact.ts";
import { VolumeError } from "../../../errors.ts";
import type { FilesystemMount, MountCredentials } from "../../ports/host-ports.ts";
import { errnoOf } from "../syscall/errno.ts";

/** A file system of a server that is mounted by system calls alone: whom it is told to be is one of its options. */
export interface ServedFileSystem {
  /** PURE. Said to the kernel by fsconfig(2), which nobody sees, and not shown by it. */
  credentials(credentials: MountCredentials): readonly string[];
  /** PURE. What a failed mount means; undefined if it is what it says. */
  failure(request: FilesystemMount, failed: FailedMount): VolumeError | undefined;
}

interface FailedMount {
  readonly code: string | undefined;
  /** What the kernel has said. */
  readonly log: string;
  /** How long it took. */
  readonly ms: number;
}

/** By type of the file system. */
export const servedFileSystems: { readonly [fsType: string]: ServedFileSystem } = {
  ceph: {
    credentials: ({ username, password }) => [`name=${username}`, `secret=${password}`],
    failure(request, { code, log, ms }) {
      const { source, credentials } = request;
      const on = { kind: "Server", name: source };
      const said = log === "" ? `${code}` : `${code}: ${log}`;
      if (code === "ENOENT") {
        const message = `${source}: the file system has no such directory: correct path`;
        return new VolumeError("ShareNotFound", "final", message, { on });
      }
      if (refusing.has(code ?? "") || (code === everything && ms < waitOf(request))) {
        const fsName = optionOf(request, "mds_namespace");
        const orNone = fsName === undefined ? "" : `, or has no file system ${fsName}`;
        const message = `${source}: the cluster refuses client.${credentials?.username} with the Secret's key, or its access to the requested data${orNone} (${said}): correct key and user, or the user's caps${orNone && ", or fsName"}`;
        return new VolumeError("CredentialsRefused", "final", message, { on });
      }
      if (!unanswered.has(code ?? "")) return undefined;
      const message = `mounting ${source}: no monitor, or no MDS, has answered (${said}); see ms_mode= and the monitors' ports, too`;
      return new VolumeError("ServerUnreachable", "transient", message, { on });
    },
  },
};

const refusing = new Set(["EACCES", "EPERM", "ENOKEY", "EKEYEXPIRED", "EKEYREVOKED", "EKEYREJECTED"]);
/**
 * What the kernel says whatever has failed, as long as it has no MDS. It waits for monitors and MDS
 * (norequire_active_mds), so what is there earlier is somebody's refusal. (fs/ceph/super.c, ceph_get_tree)
 */
const everything = "EHOSTUNREACH";
const unanswered = new Set([everything, "ETIMEDOUT", "ECONNREFUSED", "ECONNABORTED", "ENOTCONN", "EIO"]);

/** Milliseconds that the kernel was told to wait; 60 s if it was not. */
function waitOf(request: FilesystemMount): number {
  return Number(optionOf(request, "mount_timeout") ?? 60) * 1_000;
}

function optionOf({ options }: FilesystemMount, name: string): string | undefined {
  return options.find((option) => option.startsWith(`${name}=`))?.slice(name.length + 1);
}

/**
 * PURE. What a failed call means for a file system of a server. It never has a secret in it, whatever the kernel
 * repeats.
 * @param ms that it took
 */
export function servedFailure(
  request: FilesystemMount,
  error: unknown,
  log: string,
  ms: number,
): VolumeError | undefined {
  const { fsType, credentials } = request;
  const text = redact(log, credentials === undefined ? [] : [credentials.password]);
  return servedFileSystems[fsType]?.failure(request, { code: errnoOf(error), log: text, ms });
}
