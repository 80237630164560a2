import type { KubeObject, ObjectMeta } from "../api/meta.ts";
import type {
  Condition,
  NodeVolumeIntent,
  NodeVolumeIntentSpec,
  NodeVolumeIntentStatus,
  NodeVolumeSetSpec,
  NodeVolumeSetStatus,
} from "../api/types.gen.ts";
import { parseSet } from "../api/validate.ts";
import { arrayIn, isRecord, recordIn, stringIn } from "../kube/json.ts";
import type { StateEntry } from "./state-lost.ts";

/** What the controller keeps of the objects that it watches: what it decides by, and nothing else. Pure. */

export interface Taint {
  readonly key: string;
  readonly value: string;
  readonly effect: string;
}

export interface NodeInfo extends KubeObject {
  readonly taints: readonly Taint[];
  readonly unschedulable: boolean;
  /** Whether the Node's condition Ready is True. */
  readonly ready: boolean;
  /** "" if no kubelet has reported it. */
  readonly bootID: string;
  /** Whether somebody has said that no controller attaches volumes to it; what nobody says is no such word (decision 0029). */
  readonly attachesItself: boolean;
}

/** A set; without `spec` if it could not be understood, and then `invalid` says why. */
export interface SetEntry extends KubeObject {
  readonly spec: NodeVolumeSetSpec | undefined;
  readonly invalid: string | undefined;
  readonly status: NodeVolumeSetStatus;
}

/** An intent, read from the server: its metadata has uid, resourceVersion and generation. */
export type Intent = NodeVolumeIntent;

/** kubelet sets it to "true" where the attach/detach controller is to attach, and takes it off where not (behaviour 80). */
const controllerManaged = "volumes.kubernetes.io/controller-managed-attach-detach";

export function projectNode(raw: unknown): NodeInfo | undefined {
  const metadata = projectMetadata(raw);
  if (metadata === undefined) return undefined;
  const spec = recordIn(raw, "spec");
  const status = recordIn(raw, "status");
  const taints = arrayIn(spec, "taints").map((taint) => ({
    key: stringIn(taint, "key") ?? "",
    value: stringIn(taint, "value") ?? "",
    effect: stringIn(taint, "effect") ?? "",
  }));
  const ready = arrayIn(status, "conditions").find((condition) => stringIn(condition, "type") === "Ready");
  return {
    metadata: pick(metadata, ["name", "uid", "resourceVersion", "labels"]),
    taints,
    unschedulable: spec?.["unschedulable"] === true,
    ready: stringIn(ready, "status") === "True",
    bootID: stringIn(recordIn(status, "nodeInfo"), "bootID") ?? "",
    attachesItself: metadata.annotations?.[controllerManaged] === "false",
  };
}

export function projectIntent(raw: unknown): Intent | undefined {
  const metadata = projectMetadata(raw);
  const spec = recordIn(raw, "spec");
  if (metadata === undefined || spec === undefined) return undefined;
  return {
    metadata,
    spec: spec as unknown as NodeVolumeIntentSpec,
    status: (recordIn(raw, "status") ?? {}) as NodeVolumeIntentStatus,
  };
}

export function projectSet(raw: unknown): SetEntry | undefined {
  const metadata = projectMetadata(raw);
  if (metadata === undefined || !isRecord(raw)) return undefined;
  const status = (recordIn(raw, "status") ?? {}) as NodeVolumeSetStatus;
  // The status is our own and read for comparison only, so nothing in it makes a set invalid.
  const parsed = parseSet({ metadata: { name: metadata.name }, spec: raw["spec"], status: {} });
  if (parsed.ok) return { metadata, spec: parsed.value.spec, invalid: undefined, status };
  const invalid = parsed.errors.map(({ path, message }) => `${path}: ${message}`).join("; ");
  return { metadata, spec: undefined, invalid, status };
}

/** A NodeVolumeState: that it exists, and its conditions. */
export function projectState(raw: unknown): StateEntry | undefined {
  const metadata = projectMetadata(raw);
  const conditions = arrayIn(recordIn(raw, "status"), "conditions") as Condition[];
  const kept = metadata && pick(metadata, ["name", "uid", "resourceVersion", "generation"]);
  return kept && { metadata: kept, status: { conditions } };
}

function projectMetadata(raw: unknown): ObjectMeta | undefined {
  const metadata = recordIn(raw, "metadata");
  if (stringIn(metadata, "name") === undefined) return undefined;
  return pick(metadata as unknown as ObjectMeta, [
    "name",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "labels",
    "annotations",
    "finalizers",
  ]);
}

function pick(metadata: ObjectMeta, keys: readonly (keyof ObjectMeta)[]): ObjectMeta {
  const entries = keys.flatMap((key) => (metadata[key] === undefined ? [] : [[key, metadata[key]]]));
  return Object.fromEntries(entries) as ObjectMeta;
}
