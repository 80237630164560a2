import type { Source } from "./convert.ts";
import type { MountLine } from "./parse-mounts.ts";

/** A volume of a server, by how mount(8) and the kernel name it; undefined if the type is not one of these. */
export function networkSource(line: MountLine, setName: string): Source | { readonly reason: string } | undefined {
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
    default:
      return undefined;
  }
}

function nfs({ source, type, options }: MountLine): Source | { readonly reason: string } {
  const [, server, path] = /^(\[[^\]]+\]|[^:/]+):(\/.*)$/.exec(source) ?? [];
  if (server === undefined || path === undefined) return { reason: `${source} is not SERVER:/PATH` };
  const versioned = options.some((option) => /^(nfs)?vers=/.test(option));
  return {
    source: { nfs: { server, path, ...readOnlyOf(options) } },
    notes: [],
    options: type === "nfs4" && !versioned ? ["nfsvers=4"] : [],
    adoptable: true,
  };
}

/** What the kernel says of each mount of FUSE, and what mount.glusterfs(8) takes for the servers. */
const ofGlusterfs =
  /^(user_id=.*|group_id=.*|default_permissions|allow_other|max_read=.*|backup-?volfile-servers?=.*|log-(file|level)=.*|transport=tcp)$/;

function glusterfs({ source, options }: MountLine): Source | { readonly reason: string } {
  const [, servers, path] = /^([^/]+):\/?([^/].*)$/.exec(source) ?? [];
  if (servers === undefined || path === undefined) return { reason: `${source} is not SERVER:/VOLUME` };
  const others = options.flatMap((option) => /^backup-?volfile-servers?=(.*)$/.exec(option)?.[1]?.split(":") ?? []);
  const named = [...new Set([...servers.split(","), ...others])];
  return {
    source: { glusterfs: { servers: named, path: path.replace(/\/+$/, ""), ...readOnlyOf(options) } },
    notes: [unmountFirst],
    options: [],
    ofType: ofGlusterfs,
  };
}

/** Who it is mounted as, with what; a password is none to be shown. */
const ofLogin = /^(cred(entials)?|user(name)?|pass(word)?2?|dom(ain)?|workgroup)=/;
/** What the kernel says of each share that it has mounted. */
const ofCifs =
  /^(guest|sec=none|noforce[ug]id|[ug]id=0|bsize=.*|retrans=.*|mapposix|nounix|serverino|soft|closetimeo=.*|reparse=.*|nativesocket|symlink=.*|unicode|ip=.*)$/;

function cifs({ source, options }: MountLine, setName: string): Source | { readonly reason: string } {
  const [, server, share] = /^[/\\]{2}([^/\\]+)[/\\](.+)$/.exec(source) ?? [];
  if (server === undefined || share === undefined) return { reason: `${source} is not //SERVER/SHARE` };
  const name = `${setName}-credentials`;
  const isGuest = !options.some((option) => ofLogin.test(option));
  const secret = isGuest ? {} : { secretRef: { namespace: "default", name } };
  const file = options.flatMap((option) => /^cred(?:entials)?=(.*)$/.exec(option)?.[1] ?? [])[0];
  const from = file === undefined ? "what it is mounted with" : `what ${file} of the node says`;
  return {
    source: {
      cifs: { server, share: share.replace(/[/\\]+$/, "").replaceAll("\\", "/"), ...secret, ...readOnlyOf(options) },
    },
    notes: [
      ...(isGuest
        ? []
        : [`credentials are a Secret: make default/${name}, or name another, with username and password as ${from}`]),
      "taken over only while these options and the Secret say exactly what it is mounted with: else unmount it before mode Manage",
    ],
    options: [],
    adoptable: true,
    ofType: new RegExp(`${ofLogin.source}|${ofCifs.source}`),
  };
}

const unmountFirst =
  "nobody else's mount of it can be taken over: before mode Manage, unmount it and take it out of the fstab";

function readOnlyOf(options: readonly string[]): { readonly readOnly?: true } {
  return options.includes("ro") ? { readOnly: true } : {};
}
