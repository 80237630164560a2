import { digest } from "../../api/digest.ts";
import type { Taint } from "../../api/match-node.ts";
import type { KubeObject, ObjectMeta } from "../../api/meta.ts";
import { readiness } from "../../api/names.ts";
import { readableSource } from "../../api/readable-source.ts";
import type {
  Condition,
  NodeVolumeIntent,
  NodeVolumeIntentSpec,
  NodeVolumeIntentStatus,
  NodeVolumeSetSpec,
  NodeVolumeSetStatus,
  Orphan,
} from "../../api/types.gen.ts";
import { parseSet } from "../../api/validate.ts";
import { arrayIn, isRecord, numberIn, recordIn, stringIn } from "../../kube/json.ts";
import { canonicalJson } from "../util/canonical-json.ts";

/** What the controller keeps of the objects that it watches: what it decides by, and nothing else. Pure. */

/** A condition as it stands in an object's status. */
export interface ShownCondition {
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

/** PURE. The condition of a type in the status of an object, from the API server's JSON. */
export function conditionIn(raw: unknown, type: string): ShownCondition | undefined {
  const all = arrayIn(recordIn(raw, "status"), "conditions");
  const found = all.find((condition) => stringIn(condition, "type") === type);
  const text = (key: string) => stringIn(found, key) ?? "";
  return found === undefined ? undefined : { status: text("status"), reason: text("reason"), message: text("message") };
}

/** What the Node shows of our own: nothing else is decided by it than whether it must be written. */
export interface ShownReadiness {
  /** Whether there is a taint with our key, whoever put it there. */
  readonly tainted: boolean;
  /** The condition NodeVolumesReady. */
  readonly condition: ShownCondition | undefined;
}

/** A Node, reduced to what decisions need. */
export interface NodeInfo extends KubeObject {
  /** Without our own: a volume does not wait for a taint that waits for the volume. */
  readonly taints: readonly Taint[];
  readonly readiness: ShownReadiness;
  readonly unschedulable: boolean;
  /** Whether the Node's condition Ready is True. */
  readonly ready: boolean;
  /** "" if no kubelet has reported it. */
  readonly bootID: string;
  /**
   * Whether somebody has said that no controller attaches volumes to it; what nobody says is no such word (decision
   * 0029).
   */
  readonly attachesItself: boolean;
}

/** A set; without `spec` if it could not be understood, and then `invalid` says why. */
export interface SetEntry extends KubeObject {
  readonly spec: NodeVolumeSetSpec | undefined;
  readonly invalid: string | undefined;
  readonly status: NodeVolumeSetStatus;
}

/** What is kept of an orphan: its evidence and remedy are read when somebody asks. */
type OrphanEntry = Pick<Orphan, "path" | "reason" | "since">;

/** What the controller keeps of a NodeVolumeState. */
export interface StateEntry extends KubeObject {
  readonly status: { readonly conditions?: Condition[] };
  /** Digest of its index; "" if it has none. */
  readonly index: string;
  /** For the page: the first of what is there and nobody asks for, and how many there are. */
  readonly orphans?: readonly OrphanEntry[];
  readonly orphaned?: number;
}

/** An intent, read from the server: its metadata has uid, resourceVersion and generation. */
export type Intent = NodeVolumeIntent;

/** Whether an intent only looks at what kubelet manages. */
export function isKubelets({ spec }: Pick<Intent, "spec">): boolean {
  return spec.observed !== undefined;
}

/**
 * kubelet sets it to "true" where the attach/detach controller is to attach, and takes it off where not (behaviour 80).
 */
const controllerManaged = "volumes.kubernetes.io/controller-managed-attach-detach";

/** PURE. A Node from the API server's JSON; undefined if it has no metadata. */
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
  return {
    metadata: pick(metadata, ["name", "uid", "resourceVersion", "labels"]),
    taints: taints.filter(({ key }) => key !== readiness.taint),
    readiness: {
      tainted: taints.some(({ key }) => key === readiness.taint),
      condition: conditionIn(raw, readiness.nodeCondition),
    },
    unschedulable: spec?.["unschedulable"] === true,
    ready: conditionIn(raw, "Ready")?.status === "True",
    bootID: stringIn(recordIn(status, "nodeInfo"), "bootID") ?? "",
    attachesItself: metadata.annotations?.[controllerManaged] === "false",
  };
}

/**
 * PURE. An intent from the API server's JSON, without the parts of its status that only people read; undefined if it
 * has no metadata or spec.
 */
export function projectIntent(raw: unknown): Intent | undefined {
  const metadata = projectMetadata(raw);
  const spec = recordIn(raw, "spec");
  if (metadata === undefined || spec === undefined) return undefined;
  // Of what an agent says for people alone there is more than of what is decided by.
  const {
    history: _h,
    plan: _p,
    stagingPath: _s,
    devicePath: _d,
    desiredMounts: _w,
    readyMounts: _r,
    ...status
  } = (recordIn(raw, "status") ?? {}) as NodeVolumeIntentStatus;
  const known = spec as unknown as NodeVolumeIntentSpec; // the API server has validated all of it but the source
  const source = readableSource(known.source);
  return { metadata, spec: source === known.source ? known : { ...known, source }, status };
}

/**
 * PURE. A set from the API server's JSON; with `invalid`, and no spec, if it does not pass validation; undefined if it
 * has no metadata.
 */
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

/** Of the orphans of one node; a node has few, or something is wrong with it that the first ones say. */
const mostOrphans = 5;

/** A NodeVolumeState: that it exists, its conditions, which index it has, and the first of its orphans. */
export function projectState(raw: unknown): StateEntry | undefined {
  const metadata = projectMetadata(raw);
  const status = recordIn(raw, "status");
  const conditions = arrayIn(status, "conditions") as Condition[];
  const kept = metadata && pick(metadata, ["name", "uid", "resourceVersion", "generation"]);
  const orphans = arrayIn(status, "orphans").slice(0, mostOrphans).map(projectOrphan);
  const orphaned = numberIn(status, "orphaned") ?? orphans.length;
  return (
    kept && {
      metadata: kept,
      status: { conditions },
      index: indexDigest(recordIn(raw, "spec")),
      ...(orphans.length > 0 && { orphans, orphaned }),
    }
  );
}

function projectOrphan(raw: unknown): OrphanEntry {
  const since = stringIn(raw, "since");
  const [path, reason] = [stringIn(raw, "path") ?? "", stringIn(raw, "reason") ?? ""];
  return { path, reason, ...(since !== undefined && { since }) };
}

/** PURE. What the controller keeps of an object's metadata; undefined if it has no name. */
export function projectMetadata(raw: unknown, also: keyof ObjectMeta = "generation"): ObjectMeta | undefined {
  const metadata = recordIn(raw, "metadata");
  if (stringIn(metadata, "name") === undefined) return undefined;
  return pick(metadata as unknown as ObjectMeta, [
    "name",
    also,
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "deletionTimestamp",
    "labels",
    "annotations",
    "finalizers",
  ]);
}

function pick(metadata: ObjectMeta, keys: readonly (keyof ObjectMeta)[]): ObjectMeta {
  const picked: { [key: string]: unknown } = {};
  for (const key of keys) if (metadata[key] !== undefined) picked[key] = metadata[key];
  return picked as unknown as ObjectMeta; // its name is among the keys
}

/** PURE. What a write is for: the cluster-scoped object of this UID at this resourceVersion, and no other. */
export function refOf({ metadata: { name, uid, resourceVersion } }: KubeObject) {
  return { name, uid, resourceVersion };
}

/** Equal for equal indexes, and "" for none: all that the controller keeps of an index. */
export function indexDigest(spec: unknown): string {
  return spec === undefined ? "" : digest(canonicalJson(spec));
}
