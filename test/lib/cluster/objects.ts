import type { ApiClient, JsonObject } from "../../../hack/lib/api-client.ts";
import { follow } from "../../../hack/lib/follow.ts";
import { whileWaitingFor } from "../../../hack/lib/lanes/waits.ts";
import { testDeadline } from "../../../hack/lib/test-deadline.ts";
import type { NodeVolumeIntent, NodeVolumeSet, NodeVolumeState } from "../../../src/api/types.gen.ts";

const api = "/apis/nodevolume.dev/v1alpha1";

/** Sets, intents and states as a watch shows them. */
export interface Objects {
  readonly sets: ReadonlyMap<string, NodeVolumeSet>;
  readonly intents: ReadonlyMap<string, NodeVolumeIntent>;
  readonly states: ReadonlyMap<string, NodeVolumeState>;
  /** Intents of a set, by node. */
  intentsOf(set: string): NodeVolumeIntent[];
  intentOn(set: string, node: string): NodeVolumeIntent | undefined;
  /** Starts of a node's agent, as the newest that has looked says it; 0 before the first has. */
  agentEpoch(node: string): number;
  /** Waits until the watch, or the world beside it, shows something. @throws Error with what is there instead */
  until(what: string, ms: number, check: () => boolean | Promise<boolean>): Promise<void>;
  /** Waits until a set is Ready with its newest spec on so many nodes. */
  ready(set: string, nodes: number, ms?: number): Promise<void>;
  /** Added to the message of a wait that was in vain. */
  describe: () => string;
}

/** Looks again this often, milliseconds, for what no watch tells of. */
const lookAgain = 25;

export function observe(client: ApiClient): Objects {
  const wake = new Set<() => void>();
  const tables = { sets: new Map(), intents: new Map(), states: new Map() } as {
    [table: string]: ReadonlyMap<string, JsonObject>;
  };
  const forever = new AbortController().signal;
  for (const table of ["sets", "intents", "states"]) {
    const onChange = ({ objects }: { objects: ReadonlyMap<string, JsonObject> }) => {
      tables[table] = objects;
      for (const look of wake) look();
    };
    void follow(client, `${api}/nodevolume${table}`, onChange, forever);
  }
  const objects: Objects = {
    get sets() {
      return tables["sets"] as unknown as ReadonlyMap<string, NodeVolumeSet>;
    },
    get intents() {
      return tables["intents"] as unknown as ReadonlyMap<string, NodeVolumeIntent>;
    },
    get states() {
      return tables["states"] as unknown as ReadonlyMap<string, NodeVolumeState>;
    },
    intentsOf: (set) =>
      [...objects.intents.values()].filter((i) => i.metadata.labels?.[`set.nodevolume.dev/${set}`] !== undefined),
    intentOn: (set, node) => objects.intentsOf(set).find((intent) => intent.spec.nodeName === node),
    agentEpoch(node) {
      const { synced, agent } = objects.states.get(node)?.status ?? {};
      return (synced && agent?.epoch) || 0;
    },
    async until(what, ms, check) {
      const limit = testDeadline(ms);
      const deadline = performance.now() + limit;
      await whileWaitingFor(what, async () => {
        while (!(await check())) {
          if (performance.now() > deadline)
            throw new Error(`waited ${limit / 1000} s for ${what}\n${dump(objects)}\n${objects.describe()}`);
          await new Promise<void>((resolve) => {
            const done = () => {
              clearTimeout(timer);
              wake.delete(done);
              resolve();
            };
            const timer = setTimeout(done, lookAgain);
            wake.add(done);
          });
        }
      });
    },
    async ready(name, nodes, ms = 30_000) {
      await objects.until(`${name} to be Ready on ${nodes} nodes`, ms, () => {
        const set = objects.sets.get(name);
        const status = set?.status;
        const condition = status?.conditions?.find((c) => c.type === "Ready");
        const current = status?.observedGeneration === set?.metadata.generation;
        return current && condition?.status === "True" && status?.ready === nodes && status.desired === nodes;
      });
    },
    describe: () => "",
  };
  return objects;
}

/** What an on-call person would look at. */
function dump(objects: Objects): string {
  const lines = [...objects.sets.values()].map((set) => `set ${set.metadata.name}: ${JSON.stringify(set.status)}`);
  for (const { metadata, spec, status } of objects.intents.values()) {
    const { state, desiredMounts, readyMounts, waiting, lastError, drift } = status ?? {};
    const deleting = metadata.deletionTimestamp === undefined ? "" : " deleting";
    lines.push(
      `intent ${metadata.name} on ${spec.nodeName}${deleting}: ${JSON.stringify({ state, desiredMounts, readyMounts, waiting, lastError, drift })}`,
    );
  }
  return lines.map((line) => line.slice(0, 600)).join("\n");
}
