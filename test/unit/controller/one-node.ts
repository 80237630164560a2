import type { NodePlan } from "../../../src/controller/intents/compile-intents.ts";
import { compileNode } from "../../../src/controller/intents/compile-intents.ts";
import type { IntentWrite } from "../../../src/controller/intents/diff-intents.ts";
import { diffIntents } from "../../../src/controller/intents/diff-intents.ts";
import { resolveNode } from "../../../src/controller/intents/resolve-node.ts";
import type { NodeInput, SetConsent, SetOnNode } from "../../../src/controller/model/node-input.ts";
import type { PodEntry } from "../../../src/controller/model/pod-entry.ts";
import type { Intent, NodeInfo, SetEntry } from "../../../src/controller/model/projections.ts";
import type { IntentName } from "../../../src/controller/model/volume-identity.ts";
import { createFakeObjects } from "../fake-api-objects.ts";
import { node, settledStatus } from "./objects.ts";

/** One node with its sets and intents; writes are applied as the API server would apply them. No I/O. */
export interface OneNode {
  sets: SetEntry[];
  node: NodeInfo | undefined;
  allowedPrefixes: string[];
  lostForMs: number;
  silentForMs: number;
  /** undefined: not known. */
  pods: PodEntry[] | undefined;
  /** Labels by namespace. */
  namespaces: { [name: string]: { [key: string]: string } };
  onePod: boolean;
  /** The group that claims ask for. */
  group: { persistentVolume: string; gid: number } | undefined;
  /** Whether claims are there; undefined: not known. */
  claims: boolean | undefined;
  /** By set, what the claim of its source says of it; nothing: that it may. */
  readonly consents: Map<string, SetConsent>;
  /** By intent. */
  refusals: Map<IntentName, string>;
  readonly name: string;
  intents(): Intent[];
  intent(volume: string): Intent;
  input(): NodeInput;
  setsOnNode(): Map<string, SetOnNode>;
  plan(mayUpdate?: (set: string) => boolean): NodePlan;
  /** What the controller would write now. */
  writes(mayUpdate?: (set: string) => boolean): IntentWrite[];
  /** Applies the writes once, and says them in short: "create data", "patch data", "delete data". */
  pass(mayUpdate?: (set: string) => boolean): string[];
  /** Passes until nothing is written; fails after 20. Returns all writes in short. */
  settle(mayUpdate?: (set: string) => boolean): string[];
  /** The agent takes every intent in: what is deleted is released and gone, the rest is Ready. */
  agent(): void;
  /** Changes an intent as somebody else would. */
  change(name: string, how: (intent: Intent) => void): void;
  remove(name: string): void;
}

export function oneNode(sets: SetEntry[], name = "n1"): OneNode {
  const objects = createFakeObjects(() => {});
  const plural = "nodevolumeintents";
  let grants = 0;

  const all = () => [...objects.collection(plural).values()] as unknown as Intent[];
  const volumeOf = (intentName: string) => intentName.replace(/^[^.]*\./, "").replace(/-[0-9a-f]{10}$/, "");

  function apply(write: IntentWrite): string {
    if (write.verb === "create") {
      grants += write.needsGrant ? 1 : 0;
      const spec = { ...write.spec, ...(write.needsGrant && { grant: { id: `grant-${grants}` } }) };
      const metadata = { name: write.name, labels: { ...write.labels }, finalizers: ["nodevolume.dev/in-use"] };
      const { status } = objects.create(plural, undefined, { metadata, spec });
      if (status !== 201) throw new Error(`create ${write.name}: ${status}`);
      return `create ${volumeOf(write.name)}`;
    }
    const { metadata } = write.intent;
    const before = objects.collection(plural).get(metadata.name);
    if (before === undefined) throw new Error(`no intent ${metadata.name}`);
    if (write.verb === "delete") objects.remove(plural, before, { preconditions: { uid: metadata.uid } });
    else {
      grants += write.needsGrant ? 1 : 0;
      const spec = "spec" in write.patch ? (write.patch.spec as object) : {};
      const patch = {
        ...write.patch,
        ...(write.needsGrant && { spec: { ...spec, grant: { id: `grant-${grants}` } } }),
      };
      objects.change(plural, before, { metadata: {}, ...patch } as never, "", "patch");
    }
    return `${write.verb} ${volumeOf(metadata.name)}`;
  }

  const world: OneNode = {
    sets,
    node: node(name),
    allowedPrefixes: ["/mnt/nodevolume"],
    lostForMs: 0,
    silentForMs: -1,
    pods: [],
    namespaces: {},
    onePod: false,
    group: undefined,
    claims: true,
    consents: new Map(),
    refusals: new Map(),
    name,
    intents: () => structuredClone(all()),
    intent(volume) {
      const found = world.intents().filter((i) => volumeOf(i.metadata.name) === volume);
      const [only] = found;
      if (found.length !== 1 || only === undefined) throw new Error(`${found.length} intents of ${volume}`);
      return only;
    },
    input: () => ({
      name,
      node: world.node,
      sets: world.sets,
      intents: world.intents(),
      allowedPrefixes: world.allowedPrefixes,
      pods: world.pods && {
        entries: world.pods,
        labelsOf: (namespace) => world.namespaces[namespace],
        hasClaim: () => world.claims,
        isForOnePod: () => world.onePod,
        groupOf: () => world.group,
      },
      consent: (set, { persistentVolumeClaim }) => persistentVolumeClaim && world.consents.get(set),
      refusals: world.refusals,
    }),
    setsOnNode: () => resolveNode(world.input()),
    plan(mayUpdate = () => true) {
      const { node: of, lostForMs, silentForMs } = world;
      const facts = { node: of, lostForMs, silentForMs };
      return compileNode(world.input(), world.setsOnNode(), mayUpdate, facts);
    },
    writes: (mayUpdate) => diffIntents(world.plan(mayUpdate), world.intents()),
    pass: (mayUpdate) => world.writes(mayUpdate).map(apply),
    settle(mayUpdate) {
      const done: string[] = [];
      for (let i = 0; i < 20; i += 1) {
        const writes = world.pass(mayUpdate);
        if (writes.length === 0) return done;
        done.push(...writes);
      }
      throw new Error(`not settled: ${done.join(", ")}`);
    },
    agent() {
      for (const intent of world.intents()) {
        const status = settledStatus(intent);
        if (intent.metadata.deletionTimestamp !== undefined) objects.collection(plural).delete(intent.metadata.name);
        else world.change(intent.metadata.name, (i) => Object.assign(i.status, status));
      }
    },
    change(intentName, how) {
      const stored = objects.collection(plural).get(intentName) as unknown as Intent;
      how(stored);
    },
    remove: (intentName) => void objects.collection(plural).delete(intentName),
  };
  return world;
}

/** "set.mount path", for every mount of intents that are not being deleted. */
export function mountsOf(world: OneNode): string[] {
  return world
    .intents()
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .flatMap(({ spec }) => spec.mounts.map((mount) => `${mount.name} ${mount.path}`))
    .sort();
}
