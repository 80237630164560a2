import { UsageError } from "./exit-code.ts";

/** What TYPE/NAME may mean. */
export type NamedKind = "pod" | "pvc" | "node" | "set" | "intent" | "volume";

/** The names that kubectl takes for a kind, and shows with -o name. A NodeVolumeState is its node's. */
const kinds: { readonly [name: string]: NamedKind } = {
  pod: "pod",
  pods: "pod",
  po: "pod",
  pvc: "pvc",
  persistentvolumeclaim: "pvc",
  persistentvolumeclaims: "pvc",
  node: "node",
  nodes: "node",
  no: "node",
  nvstate: "node",
  nodevolumestate: "node",
  nodevolumestates: "node",
  set: "set",
  nvs: "set",
  nodevolumeset: "set",
  nodevolumesets: "set",
  nvi: "intent",
  nodevolumeintent: "intent",
  nodevolumeintents: "intent",
  volume: "volume",
};

/** PURE. A word as TYPE/NAME; undefined if it is none, as NODE/VOLUME is none. @throws UsageError if no name follows */
export function typedName(word: string): { readonly kind: NamedKind; readonly name: string } | undefined {
  const slash = word.indexOf("/");
  if (slash < 0) return undefined;
  const type = word
    .slice(0, slash)
    .toLowerCase()
    .replace(/(\.v1\w*)?\.nodevolume\.dev$/, "");
  const kind = Object.hasOwn(kinds, type) ? kinds[type] : undefined;
  if (kind === undefined) return undefined;
  const name = word.slice(slash + 1);
  if (name === "") throw new UsageError(`${word} needs a name after it`);
  return { kind, name };
}
