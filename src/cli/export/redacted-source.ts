import type { MountLine } from "./mount-line.ts";

const host = String.raw`(?:\[[\da-fA-F:.]+\]|[\w.-]+)`;
const path = "[^:?@=%&;]*";
/** Names of devices, files, servers and shares, in the forms that sets are made of. */
const harmless: readonly RegExp[] = [
  /^\/dev\//,
  /^\/(?!\/)[^:?@]*$/,
  /^(UUID|LABEL|PARTUUID|PARTLABEL|ID)=/,
  new RegExp(`^${host}(:\\d+)?(,${host}(:\\d+)?)*:/${path}$`),
  new RegExp(`^[/\\\\]{2}${host}[/\\\\]${path}$`),
  new RegExp(`^[\\w.-]+@[\\w-]*[.][\\w.-]+=/${path}$`),
  /^(none|tmpfs|proc|sysfs|systemd-1|overlay|-)$/,
];

/** Without a slash, a password behind a user has the same form. */
const ofGluster = new RegExp(`^${host}(,${host})*:${path}$`);

/** PURE. What a comment shows of a source: others may hold a password or a token, as URLs and those of sshfs do. */
export function redactedSource({ source, type }: MountLine): string {
  if (source === "") return "nothing";
  if (type.endsWith("glusterfs") && ofGluster.test(source)) return source;
  return source === type || harmless.some((form) => form.test(source))
    ? source
    : "a source that is not shown, as it could hold a password";
}

/** PURE. Whether the third field is in its place: else it may be any other one. */
export function isTypeWord({ type }: MountLine): boolean {
  return /^[a-z][a-z0-9_.-]{0,31}$/.test(type);
}

/** PURE. */
export function redactedType(line: MountLine): string {
  return isTypeWord(line) ? line.type : "no type";
}

/** PURE. */
export function shownTarget({ target, line }: MountLine): string {
  return target.startsWith("/") || target === "none" || target === "swap" ? target : `line ${line}`;
}
