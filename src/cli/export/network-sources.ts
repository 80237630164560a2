import { cephfs } from "./cephfs-source.ts";
import type { ExportedSource, NoSource } from "./exported-source.ts";
import { tidy } from "./fields.ts";
import { isLogin } from "./judge-options.ts";
import type { MountLine } from "./mount-line.ts";
import { credentialsFrom, readOnlyOf, unmountFirst } from "./network-notes.ts";

/**
 * PURE. A volume of a server, by how mount(8) and the kernel name it; undefined if the type is not one of these.
 * @param line with the options that count
 */
export function networkSource(line: MountLine, setName: string): ExportedSource | NoSource | undefined {
  switch (line.type) {
    case "nfs":
    case "nfs4":
      return nfs(line);
    case "glusterfs":
    case "fuse.glusterfs":
      return glusterfs(line);
    case "cifs":
    case "smb3":
      return cifs(line, setName);
    case "ceph":
      return cephfs(line, setName);
    default:
      return undefined;
  }
}

function nfs({ source, type, options }: MountLine): ExportedSource | NoSource {
  const [, server, path] = /^(\[[^\]]+\]|[^:/]+):(\/.*)$/.exec(source) ?? [];
  if (server === undefined || path === undefined) return { reason: "its source is not SERVER:/PATH" };
  const versioned = options.some((option) => /^(nfs)?vers=/.test(option));
  return {
    source: { nfs: { server, path: tidy(path), ...readOnlyOf(options) } },
    notes: [],
    options: type === "nfs4" && !versioned ? ["nfsvers=4"] : [],
    adoptable: true,
  };
}

function glusterfs({ source, options }: MountLine): ExportedSource | NoSource {
  const [, servers, path] = /^([^/]+):\/?([^/].*)$/.exec(source) ?? [];
  if (servers === undefined || path === undefined) return { reason: "its source is not SERVER:/VOLUME" };
  const others = options.flatMap((option) => /^backup-?volfile-servers?=(.*)$/.exec(option)?.[1]?.split(":") ?? []);
  const named = [...new Set([...servers.split(","), ...others])];
  return {
    source: { glusterfs: { servers: named, path: path.replace(/\/+$/, ""), ...readOnlyOf(options) } },
    notes: [unmountFirst],
    options: [],
  };
}

function cifs(line: MountLine, setName: string): ExportedSource | NoSource {
  const { source, options } = line;
  const [, server, share] = /^[/\\]{2}([^/\\]+)[/\\]+(.+)$/.exec(source) ?? [];
  if (server === undefined || share === undefined) return { reason: "its source is not //SERVER/SHARE" };
  const name = `${setName}-credentials`;
  const isGuest = !options.some((option) => isLogin(line, option));
  const secret = isGuest ? {} : { secretRef: { namespace: "default", name } };
  return {
    source: {
      cifs: { server, share: share.replaceAll("\\", "/").replace(/\/+$/, ""), ...secret, ...readOnlyOf(options) },
    },
    notes: [
      ...(isGuest
        ? []
        : [
            `credentials are a Secret: make default/${name}, or name another, with username and password as ${credentialsFrom(options)}`,
          ]),
      "taken over only while these options and the Secret match its mount exactly: else unmount it before mode Manage",
    ],
    options: [],
    adoptable: true,
  };
}
