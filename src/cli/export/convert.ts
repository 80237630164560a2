import { apiVersion } from "../../api/names.ts";
import type { SetMount, VolumeSource } from "../../api/types.gen.ts";
import { parseSet } from "../../api/validate.ts";
import { effectiveOptions, nameOf } from "./effective-options.ts";
import { judgeOptions, type Wanted } from "./judge-options.ts";
import { localSource } from "./local-sources.ts";
import type { MountLine } from "./mount-line.ts";
import { networkSource } from "./network-sources.ts";
import { isTypeWord } from "./redacted-source.ts";

/** A mount as a set, with what could not be taken along; or why it cannot be one. */
export type Converted =
  | { readonly kind: "set"; readonly line: MountLine; readonly set: ExportedSet; readonly notes: readonly string[] }
  | { readonly kind: "none"; readonly line: MountLine; readonly reason: string; readonly ofSystem: boolean };

/** A NodeVolumeSet as `export` prints it. */
interface ExportedSet {
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
const kernelTypes =
  /^(proc|sysfs|devtmpfs|devpts|securityfs|cgroup2?|pstore|bpf|efivarfs|debugfs|tracefs|fusectl|configfs|mqueue|hugetlbfs|ramfs|autofs|rpc_pipefs|nsfs|binfmt_misc|overlay|squashfs|swap)$/;
const systemPaths =
  /^\/($|(proc|sys|dev|run|boot|efi|tmp|usr|snap)(\/|$)|var\/lib\/(kubelet|containerd|docker|containers|nodevolume(?!\/mounts\/))(\/|$))/;

/** The prefixes of config/default and of its component prefix-mnt: an fstab that has one is people's wish. */
const agentsPath = /^(\/var\/lib\/nodevolume\/mounts|\/mnt\/nodevolume)\//;

/** PURE. A line of the file as a set. @param taken names of sets that are given already */
export function convert(written: MountLine, taken: ReadonlySet<string>, node: string | undefined): Converted {
  const none = (reason: string, ofSystem = false): Converted => ({ kind: "none", line: written, reason, ofSystem });
  const system = systemReason(written);
  if (system !== undefined) return none(system, true);
  if (written.unfit !== undefined) return none(written.unfit);
  const [, prefix] = agentsPath.exec(written.target) ?? [];
  if (written.byKernel && prefix !== undefined) return none(`it is beneath ${prefix}: an agent mounted it for a set`);
  const line = { ...written, options: effectiveOptions(written) };
  const name = setName(line.target, taken);
  const source = localSource(line) ?? networkSource(line, name);
  if (source === undefined)
    return none(
      isTypeWord(line)
        ? `there is no source for the file system ${line.type}; with a CSI driver for it: source.csi`
        : "its third field is no type of a file system",
    );
  if ("reason" in source) return none(source.reason);
  const judged = judgeOptions(written, line.options);
  if (judged.refused !== undefined) return none(judged.refused);
  const mount = {
    name: "host",
    path: line.target,
    ...(line.options.includes("ro") && { readOnly: true }),
    ...(judged.flags.length > 0 && { mountOptions: judged.flags as SetMount["mountOptions"] & {} }),
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
  const trouble = refusal(build(source.options));
  if (trouble !== undefined) return none(trouble);
  const { kept, left } = allowed(judged.volume, (options) => refusal(build([...source.options, ...options])));
  const looser = left.find(({ needed }) => needed);
  if (looser !== undefined) return none(`option ${nameOf(looser.option)}: ${looser.trouble}`);
  const options = [...source.options, ...kept];
  const notes = [
    ...source.notes,
    ...judged.notes,
    ...left.map(({ option, trouble }) => `option ${nameOf(option)} is left out: ${trouble}`),
    ...(options.length > 0 && source.fsType !== undefined
      ? [`fsType is needed for options: in mode Manage an empty device would be formatted as ${source.fsType}`]
      : []),
  ];
  return { kind: "set", line: written, set: build(options), notes };
}

/** Why a mount is the system's own, and nobody asks for a set of it. */
function systemReason({ type, target, bind }: MountLine): string | undefined {
  if (type === "swap" || target === "none" || target === "swap")
    return "swap can only be managed, not observed: write a set with fsType: swap";
  if (kernelTypes.test(type) && !bind) return `${type} is the system's own`;
  return systemPaths.test(target)
    ? "it belongs to the operating system, or to kubelet and the container runtime"
    : undefined;
}

/** Which options the API takes together, tried until no more are: some need another one that is behind them. */
function allowed(
  wanted: readonly Wanted[],
  refusalOf: (options: readonly string[]) => string | undefined,
): { readonly kept: readonly string[]; readonly left: readonly (Wanted & { readonly trouble: string })[] } {
  const kept: string[] = [];
  let left = wanted.map((one) => ({ ...one, trouble: "" }));
  for (let before = -1; kept.length > before; ) {
    before = kept.length;
    left = left.flatMap((one) => {
      const trouble = refusalOf([...kept, one.option]);
      if (trouble !== undefined) return [{ ...one, trouble }];
      kept.push(one.option);
      return [];
    });
  }
  return { kept, left };
}

/** What our own schema says against it. Its sentences repeat no value. */
function refusal(set: ExportedSet): string | undefined {
  const parsed = parseSet(set);
  if (parsed.ok) return undefined;
  const [first] = parsed.errors;
  return first === undefined ? "it is not valid" : `${first.path}: ${first.message.split(/: (?!Kernel)|;/, 1)[0]}`;
}

function setName(target: string, taken: ReadonlySet<string>): string {
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
