import { Registry } from "prom-client";
import type { Condition, NodeVolumeIntentStatus } from "../../../src/api/types.gen.ts";
import type { Intent } from "../../../src/controller/model/projections.ts";
import type { CreateFinalizerController } from "../../../src/controller/sets/finalizer-controller.ts";
import type { Controller } from "../../../src/controller/start.ts";
import { startController } from "../../../src/controller/start.ts";
import { microTime } from "../../../src/kube/leases/lease.ts";
import type { FakeObject } from "../fake-api-objects.ts";
import type { FakeApiServer } from "../fake-api-server.ts";
import { createFakeApiServer } from "../fake-api-server.ts";
import type { VirtualSystem } from "../kube/virtual-system.ts";
import { virtualSystem } from "../kube/virtual-system.ts";
import type { NodeOptions } from "./objects.ts";
import { rawNode, rawSet, settledStatus } from "./objects.ts";

/** A whole controller on a fake API server under a virtual clock, with nodes whose agents do as they are told. */
export interface Fleet {
  readonly system: VirtualSystem;
  readonly api: FakeApiServer;
  readonly registry: Registry;
  start(
    identity?: string,
    observePods?: "None" | "PersistentVolumes",
    indexIntents?: boolean,
    watchPolicies?: boolean,
  ): Controller;
  node(name: string, options?: NodeOptions): void;
  set(name: string, spec?: object): void;
  intents(): Intent[];
  intent(node: string): Intent;
  setStatus(name: string): { [key: string]: unknown };
  /** Of a set, or of the state of a node: "Ready=True/AllReady", … */
  conditions(name: string, plural?: string): string[];
  /** Nodes whose agents answer at the next opportunity; the others are silent. */
  readonly agents: Set<string>;
  /** Nodes whose agents live and renew their Leases, but write no status. */
  readonly mute: Set<string>;
  /** What an agent reports instead of success, by node. */
  readonly failures: Map<string, Partial<NodeVolumeIntentStatus>>;
  /** Lets `ms` pass; agents act every 50 ms and renew their Leases every 30 s. */
  run(ms: number): Promise<void>;
  writesOf(plural: string, verb?: string): number;
}

/** @param over whether a turn of the event loop is over, each time that somebody asks */
export function createFleet(
  createFinalizerController?: CreateFinalizerController,
  over: () => boolean = () => false,
): Fleet {
  const system = virtualSystem({ over });
  const api = createFakeApiServer(system.timers);
  const registry = new Registry();
  const agents = new Set<string>();
  const mute = new Set<string>();
  const failures = new Map<string, Partial<NodeVolumeIntentStatus>>();
  const renewed = new Map<string, number>();

  function agentSteps(): void {
    for (const intent of fleet.intents()) {
      const { nodeName } = intent.spec;
      if (!agents.has(nodeName) || mute.has(nodeName) || api.object("nodes", nodeName) === undefined) continue;
      const status = { ...settledStatus(intent, failures.get(nodeName)), agentState: intent.status.agentState };
      const patch = JSON.parse(JSON.stringify(status)) as object;
      if (JSON.stringify(patch) === JSON.stringify(intent.status)) continue;
      api.patch("nodevolumeintents", intent.metadata.name, { status: { ...nulls(intent.status), ...patch } }, "status");
    }
  }

  function renew(name: string): void {
    const now = system.clock.monotonic();
    if (now - (renewed.get(name) ?? Number.NEGATIVE_INFINITY) < 30_000) return;
    renewed.set(name, now);
    const spec = { holderIdentity: name, leaseDurationSeconds: 180, renewTime: microTime(system.clock.now()) };
    api.apply("leases", { metadata: { name, namespace: "nodevolume-system" }, spec });
  }

  const fleet: Fleet = {
    system,
    api,
    registry,
    agents,
    mute,
    failures,
    start(identity = "c1", observePods = "None", indexIntents = false, watchPolicies = false) {
      return startController({
        system,
        transport: api,
        config: { identity, allowedPrefixes: ["/mnt/nodevolume"], observePods, indexIntents },
        watchPolicies,
        registry: identity === "c1" ? registry : new Registry(),
        ...(createFinalizerController && { createFinalizerController }),
      });
    },
    node(name, options) {
      const { metadata, ...rest } = rawNode(name, options);
      const before = api.object("nodes", name);
      // Another UID is another object.
      if (before !== undefined && options?.uid !== undefined) api.remove("nodes", name);
      api.apply("nodes", { metadata: { name, ...(metadata.labels && { labels: metadata.labels }) }, ...rest });
      agents.add(name);
    },
    set(name, spec = {}) {
      const before = api.object("nodevolumesets", name);
      api.apply("nodevolumesets", {
        metadata: before?.metadata ?? { name },
        spec: rawSet(name, { spec }).spec,
      } as FakeObject);
    },
    intents: () => api.objects("nodevolumeintents") as unknown as Intent[],
    intent(name) {
      const found = fleet.intents().filter(({ spec }) => spec.nodeName === name);
      const [only] = found;
      if (found.length !== 1 || only === undefined) throw new Error(`${found.length} intents on ${name}`);
      return only;
    },
    setStatus: (name) => (api.object("nodevolumesets", name)?.status ?? {}) as { [key: string]: unknown },
    conditions(name, plural = "nodevolumesets") {
      const status = api.object(plural, name)?.status as { conditions?: Condition[] } | undefined;
      return (status?.conditions ?? []).map((c) => `${c.type}=${c.status}/${c.reason}`);
    },
    async run(ms) {
      // What a test changes between two runs is seen at the first step; from then on agents have something to do only
      // after a write.
      let seen = -1;
      for (let gone = 0; gone < ms; gone += 50) {
        await system.advance(Math.min(50, ms - gone));
        if (api.writes.length !== seen) agentSteps();
        seen = api.writes.length;
        for (const name of agents) renew(name);
      }
      await system.advance(0);
    },
    writesOf: (plural, verb) =>
      api.writes.filter((w) => w.plural === plural && (verb === undefined || w.verb === verb)).length,
  };
  return fleet;
}

function nulls(status: object): object {
  return Object.fromEntries(Object.keys(status).map((key) => [key, null]));
}

/** A fleet with a set `a` that is ready on all of its nodes n0, n1, … */
export async function settledFleet(
  nodes = 3,
  spec: object = {},
  createFinalizerController?: CreateFinalizerController,
): Promise<Fleet> {
  const fleet = createFleet(createFinalizerController);
  for (let i = 0; i < nodes; i += 1) fleet.node(`n${i}`);
  fleet.set("a", spec);
  fleet.start();
  await fleet.run(3_000);
  const [ready] = fleet.conditions("a");
  if (ready !== "Ready=True/AllReady") throw new Error(`the fleet is not settled: ${ready}`);
  return fleet;
}
