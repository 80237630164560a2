import { type Resource, resource } from "../../../src/api/names.ts";
import type { SeededRandom } from "../random.ts";
import type { ApiOperation, JsonRecord, Preconditions, Selectors } from "./api-operations.ts";

/** What is done to objects of one kind. */
interface Samples {
  readonly resource: Resource;
  readonly objects: readonly JsonRecord[];
  readonly patches: readonly JsonRecord[];
  readonly statuses: readonly JsonRecord[];
  readonly selectors: readonly Selectors[];
}

const mount = (name: string, path: string) => ({
  name,
  requester: { kind: "NodeVolumeSet", name: "differential", uid: "u" },
  path,
  readOnly: false,
});
const intent = {
  nodeName: "node-1",
  nodeUID: "an-old-node",
  volumeName: "volume",
  mode: "Manage",
  volumeMode: "Filesystem",
  source: { emptyDir: { medium: "Memory" } },
  mounts: [mount("host", "/mnt/nodevolume/x")],
};
const set = {
  volume: { source: { emptyDir: { medium: "Memory" } } },
  mounts: [{ name: "m", path: "/mnt/nodevolume/x" }],
};
const finalizers = ["nodevolume.dev/in-use"];

/** For all kinds. */
const patches: readonly JsonRecord[] = [
  {},
  { metadata: { labels: { color: "red" } } },
  { metadata: { labels: { color: "blue" } } },
  { metadata: { labels: { color: null } } },
  { metadata: { annotations: { note: "x" } } },
  { metadata: { finalizers } },
  { metadata: { finalizers: [...finalizers, "example.com/other"] } },
  { metadata: { finalizers: null } },
  { metadata: { finalizers: [] } },
  { metadata: { generation: 77, creationTimestamp: null, deletionTimestamp: null } },
];
/** For kinds with a schema of ours. What else the server checks of its own kinds, nobody here gets wrong. */
const custom: readonly JsonRecord[] = [...patches, { nonsense: 1 }];

const samples: readonly Samples[] = [
  {
    resource: resource.intents,
    objects: [
      { spec: intent },
      { metadata: { finalizers, labels: { color: "red" } }, spec: { ...intent, nodeName: "node-2" } },
      { metadata: { finalizers }, spec: { ...intent, grant: { id: "11111111-2222-3333-4444-555555555555" } } },
      { metadata: { generation: 9, deletionTimestamp: "2026-01-01T00:00:00Z" }, spec: intent, status: { inUse: true } },
      { spec: { ...intent, mode: "Bogus" } },
      { spec: { ...intent, nodeName: undefined } },
      { spec: { ...intent, nonsense: true } },
      { metadata: { resourceVersion: "7" }, spec: intent },
    ],
    patches: [
      ...custom,
      { spec: { suspend: true } },
      { spec: { suspend: null } },
      { spec: { mounts: [mount("host", "/mnt/nodevolume/y"), mount("other", "/mnt/nodevolume/z")] } },
      { spec: { mounts: [] } },
      { spec: { nodeName: "node-3" } },
      { spec: { source: { emptyDir: null, hostPath: { path: "/srv" } } } },
      { spec: { grant: { id: "11111111-2222-3333-4444-555555555555" } } },
      { spec: { grant: { id: "99999999-2222-3333-4444-555555555555" } } },
      { spec: { mode: 7 } },
      { spec: { nonsense: 1 } },
      { status: { inUse: true } },
    ],
    statuses: [
      { state: "Mounted", inUse: true, observedGeneration: 1 },
      { state: "Released", inUse: false, observedUID: "u" },
      { state: "Bogus" },
      { inUse: "yes" },
      { inUse: null },
      { nonsense: 1 },
      { mounts: [{ name: "host", state: "Mounted", path: "/mnt/nodevolume/x" }] },
      {},
    ],
    selectors: [
      {},
      { labelSelector: "color=red" },
      { fieldSelector: "spec.nodeName=node-1" },
      { labelSelector: "!color" },
    ],
  },
  {
    resource: resource.sets,
    objects: [
      { spec: set },
      { metadata: { finalizers: ["nodevolume.dev/unmount"] }, spec: set },
      { spec: { ...set, mode: "Observe" } },
      { spec: { ...set, mounts: [{ name: "m", path: "/mnt/nodevolume/../x" }] } },
      { spec: { ...set, volume: {} } },
    ],
    patches: [...custom, { spec: { suspend: true } }, { spec: { mode: "Observe" } }, { spec: { mode: "None" } }],
    statuses: [{ ready: 1, desired: 2 }, { ready: -1 }, { observedGeneration: 1 }],
    selectors: [{}, { labelSelector: "color=blue" }],
  },
  {
    resource: resource.leases,
    objects: [{ spec: { holderIdentity: "one", leaseDurationSeconds: 60 } }],
    patches: [
      ...patches,
      { spec: { holderIdentity: "two", leaseTransitions: 3 } },
      { spec: { renewTime: "2026-01-01T00:00:00.000000Z" } },
    ],
    statuses: [],
    selectors: [{}],
  },
  {
    resource: resource.configMaps,
    objects: [{ data: { key: "value" } }, { metadata: { finalizers }, data: { key: "value" } }],
    patches: [...patches, { data: { key: "other" } }, { data: { key: null, more: "x" } }],
    statuses: [],
    selectors: [{}, { labelSelector: "color!=blue" }, { labelSelector: "color=red" }],
  },
  {
    resource: resource.events,
    objects: [
      {
        involvedObject: { kind: "NodeVolumeIntent", name: "a", namespace: "default" },
        type: "Normal",
        reason: "Mounted",
        message: "m",
        count: 1,
        source: { component: "nodevolume-agent" },
        reportingComponent: "nodevolume-agent",
        reportingInstance: "",
      },
    ],
    patches: [{ count: 2, message: "again" }, { count: 3, lastTimestamp: "2026-01-01T00:00:00Z" }, {}],
    statuses: [],
    selectors: [{}],
  },
];

/** One sequence is about one kind of objects, or two. */
export function randomRequests(random: SeededRandom, count: number): ApiOperation[] {
  const about = random.chance(0.6)
    ? [samples[0] ?? random.pick(samples)]
    : [random.pick(samples), random.pick(samples)];
  return Array.from({ length: count }, (_, index) => request(random, random.pick(about), index));
}

function request(random: SeededRandom, of: Samples, index: number): ApiOperation {
  const name = random.pick(["a", "a", "b", "c"]);
  const preconditions = preconditionsOf(random);
  const selectors = random.pick(of.selectors);
  const base = { resource: of.resource };
  const likelyGood =
    of.objects[random.chance(0.6) ? random.below(Math.min(3, of.objects.length)) : random.below(of.objects.length)];
  const object = likelyGood ?? {};
  const patch = random.pick(of.patches);
  const statuses = of.statuses.length > 0 ? of.statuses : [{}];
  if (index < 2)
    return {
      ...base,
      verb: "create",
      name: index === 0 ? "a" : "b",
      object: of.objects[index % of.objects.length] ?? {},
    };
  return random.pick<() => ApiOperation>([
    () => ({ ...base, verb: "create", name, object }),
    () => ({ ...base, verb: "create", name, object }),
    () => ({ ...base, verb: "put", name, object: of.objects[0] ?? {}, change: patch, preconditions }),
    () => ({ ...base, verb: "patch", name, patch, preconditions }),
    () => ({ ...base, verb: "patch", name, patch, preconditions }),
    () => ({ ...base, verb: "patch", name, patch, preconditions }),
    () =>
      of.statuses.length === 0
        ? { ...base, verb: "patch", name, patch, preconditions }
        : { ...base, verb: "patchStatus", name, patch: random.pick(statuses), preconditions },
    () =>
      of.statuses.length === 0
        ? { ...base, verb: "get", name }
        : { ...base, verb: "patchStatus", name, patch: random.pick(statuses), preconditions },
    () => ({ ...base, verb: "delete", name, preconditions }),
    () => ({ ...base, verb: "get", name }),
    () => ({ ...base, verb: "list", selectors, ...(random.chance(0.5) && { limit: 1 }) }),
    () => ({ ...base, verb: "watch", selectors, from: random.pick(["now", "start", "all"]) }),
  ])();
}

function preconditionsOf(random: SeededRandom): Preconditions {
  return random.pick<Preconditions>([
    {},
    {},
    { uid: "current" },
    { uid: "wrong" },
    { resourceVersion: "current" },
    { resourceVersion: "stale" },
    { uid: "current", resourceVersion: "current" },
    { uid: "current", resourceVersion: "stale" },
    { uid: "wrong", resourceVersion: "current" },
  ]);
}

/** The rest of an object that every field selector above matches. */
export function markerSpec(of: Resource): JsonRecord {
  const found = samples.find(({ resource: one }) => one === of);
  return found?.objects[0] ?? {};
}
