import { redact } from "../../../api/values/redact.ts";
import { VolumeError } from "../../../errors.ts";
import type { FilesystemMount } from "../../ports/host-ports.ts";

/** A program that mounts a file system of a server, because that takes more than a system call: names, a dialogue. */
export interface MountHelper {
  /** As in /sbin: what mount(8) would start. */
  readonly program: string;
  /** PURE. Arguments; no secrets: every process of the node sees them. */
  args(request: FilesystemMount, flags: readonly string[]): string[];
  /** PURE. What the program gets beside PATH: only root sees it. */
  env(request: FilesystemMount): { readonly [name: string]: string };
  /** PURE. What its words, all of them, mean when it has failed. */
  failure(request: FilesystemMount, text: string): VolumeError;
}

/** By type of the file system. */
export const mountHelpers: { readonly [fsType: string]: MountHelper } = {
  nfs: {
    program: "mount.nfs",
    args: ({ source, target, options }, flags) => [source, target.path, "-o", [...flags, ...options].join(",")],
    env: () => ({}),
    failure({ source }, text) {
      if (/incorrect mount option|invalid option|bad option/i.test(text)) return refused(text);
      return noClient("NFS", text) ?? unreachable(source, text);
    },
  },

  cifs: {
    program: "mount.cifs",
    args({ source, target, options, credentials }, flags) {
      const domain = credentials?.domain === undefined ? [] : [`domain=${credentials.domain}`];
      return [source, target.path, "-o", [...flags, ...options, ...domain].join(",")];
    },
    env({ credentials }): { readonly [name: string]: string } {
      return credentials === undefined ? {} : { USER: credentials.username, PASSWD: credentials.password };
    },
    failure({ source, credentials }, output) {
      const said = withoutAdvice(output);
      // It does not show the password; should it ever, that goes no further.
      const text = redact(said, credentials === undefined ? [] : [credentials.password]);
      const errno = Number(/mount error\((\d+)\)/.exec(said)?.[1]);
      const on = { kind: "Server", name: source };
      if (errno === 2) {
        const message = `${source}: the server has no such share, or no such directory in it: correct share`;
        return new VolumeError("ShareNotFound", "final", message, { on });
      }
      if (badCredentials.has(errno)) {
        const whose = credentials === undefined ? "a guest: name a Secret in secretRef" : "the Secret's user";
        const message = `${source}: the server lets nobody in as ${whose} (${text})`;
        return new VolumeError("CredentialsRefused", "final", message, { on });
      }
      if (errno === 22 || errno === 95)
        return refused(`mounting ${source}: ${text}: see vers= and sec= of mountOptions`);
      return noClient("SMB", text) ?? unreachable(source, text);
    },
  },
};

/** EACCES, EPERM, and the errors of keys: ENOKEY, EKEYEXPIRED, EKEYREVOKED, EKEYREJECTED. */
const badCredentials = new Set([13, 1, 126, 127, 128, 129]);

function noClient(what: string, text: string): VolumeError | undefined {
  if (!/unknown filesystem|not supported by kernel|No such device/i.test(text)) return undefined;
  return new VolumeError("FilesystemUnsupported", "final", `the kernel of the node has no ${what} client: ${text}`);
}

function refused(text: string): VolumeError {
  return new VolumeError("OptionsRefused", "final", text);
}

function unreachable(source: string, text: string): VolumeError {
  const on = { kind: "Server", name: source };
  return new VolumeError("ServerUnreachable", "transient", `mounting ${source}: ${text}`, { on });
}

function withoutAdvice(text: string): string {
  return text.replace(/\s*Refer to the mount\.cifs\(8\) manual page.*$/s, "");
}
