import type { DownwardAPIVolumeFile } from "../../api/types.gen.ts";

/** The part of a Node whose fields can be shown. */
export interface NodeObject {
  readonly metadata: {
    readonly name: string;
    readonly uid?: string;
    readonly labels?: Strings;
    readonly annotations?: Strings;
  };
  readonly spec?: { readonly podCIDR?: string; readonly podCIDRs?: readonly string[]; readonly providerID?: string };
  readonly status?: {
    readonly addresses?: readonly { readonly type: string; readonly address: string }[];
    readonly nodeInfo?: Strings;
    readonly allocatable?: Strings;
    readonly capacity?: Strings;
  };
}

type Strings = { readonly [name: string]: string };

/** The field of the Node that an item shows: a fieldPath, or `allocatable.cpu` and the like. */
export function fieldOf({ fieldRef, resourceFieldRef }: DownwardAPIVolumeFile): string {
  return fieldRef?.fieldPath ?? resourceFieldRef?.resource ?? "";
}

/**
 * PURE. A field of the Node as text; "" for what it has not, as of a pod's, and 0 for an amount.
 * (kubelet: pkg/fieldpath, of pods; decision 0044)
 */
export function nodeField({ metadata, spec = {}, status = {} }: NodeObject, path: string): string {
  const [, map, key = ""] = /^metadata\.(labels|annotations)\['(.*)'\]$/.exec(path) ?? [];
  if (map === "labels" || map === "annotations") return textIn(metadata[map], key) ?? "";
  const [, amounts, resource = ""] = /^(allocatable|capacity)\.(.*)$/.exec(path) ?? [];
  if (amounts === "allocatable" || amounts === "capacity") return textIn(status[amounts], resource) ?? "0";
  const info = /^status\.nodeInfo\.(\w+)$/.exec(path)?.[1];
  if (info !== undefined) return textIn(status.nodeInfo, info) ?? "";
  switch (path) {
    case "metadata.name":
    case "spec.nodeName":
      return metadata.name;
    case "metadata.uid":
      return metadata.uid ?? "";
    case "metadata.labels":
      return linesOf(metadata.labels);
    case "metadata.annotations":
      return linesOf(metadata.annotations);
    case "spec.podCIDR":
      return spec.podCIDR ?? "";
    case "spec.podCIDRs":
      return (spec.podCIDRs ?? []).join(",");
    case "spec.providerID":
      return spec.providerID ?? "";
    case "status.hostIP":
      return hostIPs(status.addresses)[0] ?? "";
    case "status.hostIPs":
      return hostIPs(status.addresses).join(",");
    default:
      throw new Error(`${path} is no field of a Node`);
  }
}

/** What a name stands for; what every object has, such as `constructor`, is none of it. */
function textIn(values: Strings | undefined, name: string): string | undefined {
  return values !== undefined && Object.hasOwn(values, name) ? values[name] : undefined;
}

/** One line an entry, sorted, the value quoted as Go does (fieldpath.FormatMap). */
function linesOf(entries: Strings = {}): string {
  const names = Object.keys(entries).sort((a, b) => (a < b ? -1 : 1));
  return names.map((name) => `${name}=${quoted(entries[name] ?? "")}`).join("\n");
}

const escapes: Strings = {
  "\x07": "\\a",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
};

/** strconv.Quote: what cannot be printed is escaped. */
function quoted(text: string): string {
  return `"${text.replace(/["\\]|[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, escaped)}"`;
}

function escaped(character: string): string {
  if (character === '"' || character === "\\") return `\\${character}`;
  const known = escapes[character];
  if (known !== undefined) return known;
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x80) return `\\x${code.toString(16).padStart(2, "0")}`;
  return code > 0xffff ? `\\U${code.toString(16).padStart(8, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
}

/** The internal addresses, else the external ones: at most one of each family (kubelet: GetNodeHostIPs). */
function hostIPs(addresses: NonNullable<NodeObject["status"]>["addresses"] = []): string[] {
  const ofType = (type: string) => addresses.filter((each) => each.type === type).map(({ address }) => address);
  const all = [...ofType("InternalIP"), ...ofType("ExternalIP")];
  const [first] = all;
  if (first === undefined) return [];
  const other = all.find((address) => address.includes(":") !== first.includes(":"));
  return other === undefined ? [first] : [first, other];
}
