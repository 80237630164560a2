import { tidy } from "./fields.ts";
import { isLogin } from "./judge-options.ts";
import type { ExportedSource, MountLine, NoSource } from "./mount-line.ts";

/** What sets of several kinds of servers say in the same words. */
const unmountFirst =
  "a foreign mount of it cannot be adopted: before mode Manage, unmount it and take it out of the fstab";

/** PURE. A volume of a server; undefined if the type is not one of these. @param line with the options that count */
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

/** MONITOR,…:/PATH, or as newer kernels have it USER@FSID.NAME=/PATH with mon_addr=MONITOR/…. */
function cephfs({ source, options }: MountLine, setName: string): ExportedSource | NoSource {
  const given = (name: string) => options.find((option) => option.startsWith(`${name}=`))?.slice(name.length + 1);
  const [, userAt, fsName, ofNew] = /^([\w.-]+)@[\w-]*\.([\w.-]+)=(\/.*)$/.exec(source) ?? [];
  const [, monitors, ofOld] = ofNew === undefined ? (/^([\w.,:[\]-]+):(\/.*)$/.exec(source) ?? []) : [];
  const named = ofNew === undefined ? monitors?.split(",") : given("mon_addr")?.split("/");
  const path = ofNew ?? ofOld;
  if (path === undefined) return { reason: "its source is neither MONITOR,…:/PATH nor USER@FSID.NAME=/PATH" };
  if (named === undefined) return { reason: "no monitor is named by mon_addr=: the set needs them" };
  const user = given("name") ?? userAt;
  const fs = given("fs") ?? given("mds_namespace") ?? fsName;
  const secretName = `${setName}-key`;
  return {
    source: {
      cephfs: {
        ...{ monitors: named, path: tidy(path), ...(user !== undefined && { user }) },
        ...{ secretRef: { namespace: "default", name: secretName }, client: "Kernel" },
        ...{ ...(fs !== undefined && { fsName: fs }), ...readOnlyOf(options) },
      },
    },
    notes: [
      `the user's key is a Secret: make default/${secretName}, or name another, with key as ${credentialsFrom(options)}`,
      unmountFirst,
    ],
    options: [],
  };
}

function readOnlyOf(options: readonly string[]): { readonly readOnly?: true } {
  return options.includes("ro") ? { readOnly: true } : {};
}

/** Where the user or the key is to be found; a file is named only if the option's value is the path of one. */
function credentialsFrom(options: readonly string[]): string {
  const file = options.flatMap((option) => /^(?:cred[a-z]*|secretfile)=(\/[\w./-]*)$/.exec(option)?.[1] ?? [])[0];
  return file === undefined ? "what it is mounted with" : `what ${file} of the node has`;
}
