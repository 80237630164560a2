// The generator in a process of its own: what it takes is not the controller's. Told what to do by messages of its
// parent.
import { resource } from "../../../../src/api/names.ts";
import { startStandInAgents } from "./agents.ts";
import { agentBootID } from "./bases.ts";
import { createCluster } from "./cluster.ts";
import { createPodLives, type Latencies } from "./pod-lives.ts";
import { startHeartbeats } from "./rates.ts";
import { startPretendedServer } from "./server.ts";
import { namesOf, type Shape } from "./shape.ts";
import type { Stored, Target } from "./writes.ts";

export interface Calls {
  begin: { readonly asks: Shape; readonly says: Access };
  counts: { readonly asks: undefined; readonly says: Counts };
  startPods: { readonly asks: PodOrder; readonly says: undefined };
  stopPods: { readonly asks: PodOrder; readonly says: undefined };
  latencies: { readonly asks: undefined; readonly says: Latencies };
  /** Makes a set, or any other object of a cluster-scoped kind of ours. */
  make: { readonly asks: { readonly plural: "nodevolumesets"; readonly object: Stored }; readonly says: undefined };
}

/** How the controller reaches it. */
interface Access {
  readonly server: string;
  /** PEM. */
  readonly ca: string;
  readonly token: string;
}

/** Pods after those that are there at first, by number from 0. */
export interface PodOrder {
  readonly first: number;
  readonly count: number;
  readonly everyMs: number;
}

export interface Counts {
  readonly requests: { readonly [what: string]: number };
  /** Watches that are still sending what they begin with. */
  readonly listing: number;
  readonly intents: number;
  readonly states: number;
  /** Statuses that the stand-in for the agents has written, by state. */
  readonly said: { readonly [state: string]: number };
  /** Milliseconds since the epoch of the last write of an intent by the controller. */
  readonly lastWriteAt: number;
}

export interface Ask {
  readonly id: number;
  readonly call: keyof Calls;
  readonly asks: unknown;
}

export interface Answer {
  readonly id: number;
  readonly says?: unknown;
  readonly error?: string;
}

type Handlers = { readonly [call in keyof Calls]: (asks: Calls[call]["asks"]) => Promise<Calls[call]["says"]> };

let running: Awaited<ReturnType<typeof begin>> | undefined;

async function begin(shape: Shape) {
  const names = namesOf(shape);
  const cluster = createCluster(names);
  const server = await startPretendedServer(cluster);
  const lives = createPodLives(cluster);
  const served = (plural: string) => cluster.served("/apis/nodevolume.dev/v1alpha1", plural);
  const target = (plural: string, name: string): Target => {
    const found = served(plural);
    if (found === undefined) throw new Error(`the generator has no ${plural}`);
    return { served: found, namespace: undefined, name };
  };
  let lastWriteAt = 0;
  server.onRequest = (what, sent) => {
    if (!/^(create|patch|delete) nodevolumeintents$/.test(what)) return;
    lastWriteAt = Date.now();
    lives.wrote(sent);
  };
  const intents = cluster.of(resource.intents);
  const agents = startStandInAgents({
    follow: (tell) => intents.log.follow(tell),
    get: (name) => intents.get(name),
    writeStatus: (name, status) => server.writes.mergePatch(target("nodevolumeintents", name), { status }, true),
    bootID: agentBootID,
  });
  startHeartbeats(cluster);
  return { cluster, server, lives, intents, agents, target, lastWriteAt: () => lastWriteAt };
}

function started() {
  if (running === undefined) throw new Error("begin comes first");
  return running;
}

function podsOf({ first, count }: PodOrder): number[] {
  const { pods } = started().cluster.names;
  return Array.from({ length: count }, (_, index) => pods + first + index);
}

const handlers: Handlers = {
  async begin(shape) {
    running = await begin(shape);
    const { port, ca } = running.server;
    return { server: `https://127.0.0.1:${port}`, ca, token: "of-nobody" };
  },
  async counts() {
    const { server, intents, cluster, agents, lastWriteAt } = started();
    return {
      requests: Object.fromEntries(server.requests),
      listing: server.listing(),
      intents: intents.size,
      states: cluster.of(resource.states).size,
      said: Object.fromEntries(agents.said),
      lastWriteAt: lastWriteAt(),
    };
  },
  startPods: (order) => started().lives.start(podsOf(order), order.everyMs) as Promise<undefined>,
  stopPods: (order) => started().lives.stop(podsOf(order), order.everyMs) as Promise<undefined>,
  async latencies() {
    const { observed, managed } = started().lives.latencies;
    return { observed: observed.splice(0), managed: managed.splice(0) };
  },
  async make({ plural, object }) {
    const { server, target } = started();
    server.writes.create(target(plural, object.metadata.name), object, false);
    return undefined;
  },
};

process.on("message", ({ id, call, asks }: Ask) => {
  const handle = handlers[call] as (asks: unknown) => Promise<unknown>;
  handle(asks).then(
    (says) => process.send?.({ id, says } satisfies Answer),
    (error: unknown) => process.send?.({ id, error: String(error) } satisfies Answer),
  );
});
process.on("disconnect", () => process.exit(0)); // whoever measures is gone
