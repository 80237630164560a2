import { apiVersion } from "../../api/names.ts";
import type { SetMount, VolumeSource } from "../../api/types.gen.ts";
import { parseSet } from "../../api/validate.ts";
import { networkSource } from "./network-sources.ts";
import type { MountLine } from "./parse-mounts.ts";

/** A mount as a set, with what could not be taken along; or why it cannot be one. */
export type Converted =
  | { readonly kind: "set"; readonly line: MountLine; readonly set: ExportedSet; readonly notes: readonly string[] }
  | { readonly kind: "none"; readonly line: MountLine; readonly reason: string; readonly ofSystem: boolean };

export interface ExportedSet {
  readonly apiVersion: string;
  readonly kind: "NodeVolumeSet";
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly nodeSelector?: { readonly [key: string]: string };
    readonly mode: "Observe";
    readonly volume: {
      readonly source: VolumeSource;
      readonly fsType?: string;
      readonly mountOptions?: readonly string[];
    };
    readonly mounts: readonly Partial<SetMount>[];
    readonly adopt?: "IfSame";
  };
}

/** Mounts that every system has, and none that people ask for. */
const ofKernel =
  /^(proc|sysfs|devtmpfs|devpts|securityfs|cgroup2?|pstore|bpf|efivarfs|debugfs|tracefs|fusectl|configfs|mqueue|hugetlbfs|ramfs|autofs|rpc_pipefs|nsfs|binfmt_misc|overlay|squashfs|swap)$/;
const ofSystem =
  /^\/($|(proc|sys|dev|run|boot|efi|tmp|usr|snap)(\/|$)|var\/lib\/(kubelet|containerd|docker|containers|nodevolume)(\/|$))/;
/** What fstab has for those who mount, and what the kernel adds of its own: nothing of the volume. */
const ofMounting =
  /^(defaults|auto|noauto|nofail|_netdev|user|users|nouser|owner|group|rw|r?bind|comment=.*|x-.*|pri=.*|relatime|seclabel|addr=.*|clientaddr=.*|mountaddr=.*|mountvers=.*|mountproto=.*|namlen=.*|local_lock=.*|inode64|size=.*|nr_inodes=.*|mode=.*)$/;
const ofMount = new Set(["nosuid", "nodev", "noexec", "noatime", "nodiratime", "nosymfollow", "suid", "dev", "exec"]);

/** PURE. What a line of the file is as a set. @param taken names of sets that are given already */
export function convert(line: MountLine, taken: ReadonlySet<string>, node: string | undefined): Converted {
  const none = (reason: string, system = false): Converted => ({ kind: "none", line, reason, ofSystem: system });
  if (line.type === "swap" || line.target === "none" || line.target === "swap")
    return none("swap can only be managed, not looked at: write a set with fsType: swap", true);
  if (ofKernel.test(line.type) && !line.bind) return none(`${line.type} is the system's own`, true);
  if (ofSystem.test(line.target))
    return none("it belongs to the operating system, or to kubelet and the container runtime", true);
  const name = nameOf(line.target, taken);
  const source = sourceOf(line, name);
  if ("reason" in source) return none(source.reason);
  const notes = [...source.notes];
  if (line.options.includes("noauto"))
    notes.push("noauto: the node mounts it only when somebody asks; the set would always");
  const readOnly = line.options.includes("ro");
  const own = line.options.filter((option) => ofMount.has(option));
  const mount = {
    name: "host",
    path: line.target,
    ...(readOnly && { readOnly }),
    ...(own.length > 0 && { mountOptions: own as SetMount["mountOptions"] & {} }),
  };
  const build = (mountOptions: readonly string[]): ExportedSet => ({
    apiVersion,
    kind: "NodeVolumeSet",
    metadata: { name },
    spec: {
      ...(node !== undefined && { nodeSelector: { "kubernetes.io/hostname": node } }),
      mode: "Observe",
      volume: {
        source: source.source,
        ...(mountOptions.length > 0 && { ...(source.fsType !== undefined && { fsType: source.fsType }), mountOptions }),
      },
      mounts: [mount],
      ...(source.adoptable === true ? { adopt: "IfSame" as const } : {}),
    },
  });
  const wanted = line.options.filter(
    (option) =>
      option !== "ro" && !ofMount.has(option) && !ofMounting.test(option) && source.ofType?.test(option) !== true,
  );
  const kept: string[] = [...source.options];
  for (const option of wanted) {
    const trouble = refusal(build([...kept, option]));
    if (trouble === undefined) kept.push(option);
    else notes.push(`option ${option} is left out: ${trouble}`);
  }
  const set = build(kept);
  const trouble = refusal(set);
  if (kept.length > 0 && source.fsType !== undefined)
    notes.push(`fsType is needed for options: in mode Manage an empty device would be formatted as ${source.fsType}`);
  return trouble === undefined ? { kind: "set", line, set, notes } : none(trouble);
}

/** What our own schema says against it. */
function refusal(set: ExportedSet): string | undefined {
  const parsed = parseSet(set);
  if (parsed.ok) return undefined;
  const [first] = parsed.errors;
  return first === undefined ? "it is not valid" : `${first.path}: ${first.message.split(/: |;/, 1)[0]}`;
}

/** What a line names as a volume. */
export interface Source {
  readonly source: VolumeSource;
  readonly notes: readonly string[];
  /** Options that the type of the line stands for. */
  readonly options: readonly string[];
  readonly fsType?: string;
  /** Options of this type that are nothing of the volume, or not to be shown. */
  readonly ofType?: RegExp;
  /** Whether an agent can take over what is mounted. */
  readonly adoptable?: boolean;
}

function sourceOf(line: MountLine, name: string): Source | { readonly reason: string } {
  const { source, type, options } = line;
  if (line.bind) {
    const notes = options.includes("rbind") ? ["rbind: mounts beneath the directory are not carried along"] : [];
    return { source: { hostPath: { path: source, type: "" } }, notes, options: [], adoptable: true };
  }
  const ofServer = networkSource(line, name);
  if (ofServer !== undefined) return ofServer;
  if (type === "tmpfs") {
    const size = options.find((option) => option.startsWith("size="))?.slice(5);
    const limit = size === undefined ? undefined : quantity(size);
    if (size !== undefined && limit === undefined)
      return { reason: `size=${size}: sizeLimit takes bytes, or Ki, Mi, Gi` };
    // An emptyDir is always a tmpfs of our own: what is mounted there now is another.
    return {
      source: { emptyDir: { medium: "Memory", ...(limit !== undefined && { sizeLimit: limit }) } },
      notes: [],
      options: [],
    };
  }
  if (/^(ext[234]|xfs|btrfs)$/.test(type)) {
    const path = deviceOf(source);
    if (path === undefined)
      return { reason: `${source} is no device that a set could name: /dev/…, UUID=, LABEL=, PARTUUID= or PARTLABEL=` };
    const notes = /^\/dev\/([sv]d|xvd|nvme)/.test(path)
      ? [`${path} may be another disk after a reboot: name it by /dev/disk/by-id or by-uuid`]
      : [];
    return { source: { local: { path } }, notes, options: [], fsType: type, adoptable: true };
  }
  return { reason: `there is no source for the file system ${type}; with a CSI driver for it: source.csi` };
}

const links: { readonly [tag: string]: string } = {
  UUID: "by-uuid",
  LABEL: "by-label",
  PARTUUID: "by-partuuid",
  PARTLABEL: "by-partlabel",
};

function deviceOf(source: string): string | undefined {
  if (source.startsWith("/dev/")) return source;
  const [, tag = "", value = ""] = /^([A-Z]+)="?([^"]+)"?$/.exec(source) ?? [];
  const folder = links[tag];
  return folder === undefined ? undefined : `/dev/disk/${folder}/${value}`;
}

function quantity(size: string): string | undefined {
  const [, number, unit] = /^(\d+)([kmgKMG]?)$/.exec(size) ?? [];
  return number === undefined
    ? undefined
    : `${number}${{ "": "", k: "Ki", m: "Mi", g: "Gi" }[(unit ?? "").toLowerCase()] ?? ""}`;
}

function nameOf(target: string, taken: ReadonlySet<string>): string {
  const base =
    target
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^-+|-+$/g, "")
      .slice(-50)
      .replace(/^-+/, "") || "volume";
  for (let count = 1; ; count++) {
    const name = count === 1 ? base : `${base}-${count}`;
    if (!taken.has(name)) return name;
  }
}
