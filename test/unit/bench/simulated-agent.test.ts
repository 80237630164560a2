import { expect } from "chai";
import { createAgent, type Way } from "../../../hack/bench/scale/agents/agent.ts";
import { startIndexWriter } from "../../../hack/bench/scale/agents/index-writer.ts";
import type { Tally } from "../../../hack/bench/scale/agents/tally.ts";
import { indicesOf, volumeName, volumesOf } from "../../../hack/bench/scale/agents/volumes.ts";
import { createCluster } from "../../../hack/bench/scale/generator/cluster.ts";
import type { Collection } from "../../../hack/bench/scale/generator/collection.ts";
import { startPretendedServer } from "../../../hack/bench/scale/generator/server.ts";
import { namesOf } from "../../../hack/bench/scale/generator/shape.ts";
import type { Stored } from "../../../hack/bench/scale/generator/writes.ts";
import { createApiClient } from "../../../hack/lib/api-client.ts";
import { silent } from "../../../hack/lib/silent-log.ts";
import { until } from "../../../hack/lib/until.ts";
import { resource } from "../../../src/api/names.ts";
import type { NodeVolumeState } from "../../../src/api/types.gen.ts";
import { realSystem } from "../../../src/system.ts";

describe("a simulated agent, beside the pretended server", () => {
  let ends: (() => void)[] = [];
  afterEach(() => {
    for (const end of ends.reverse()) end();
    ends = [];
  });

  async function story(way: Way) {
    const shape = { nodes: 3, podsPerNode: 0, podsPerNamespace: 1, oneInUses: 1, ordinary: 0, ours: 0 };
    const names = namesOf({ ...shape, attached: false, established: true, spare: 0 });
    const cluster = createCluster(names);
    const system = realSystem(silent);
    const [intents, states] = [cluster.of(resource.intents), cluster.of(resource.states)];
    const put = (collection: Collection, { metadata, ...rest }: Stored) => {
      const at = cluster.nextVersion();
      const object = { ...rest, metadata: { ...metadata, resourceVersion: String(at) } };
      collection.put(metadata.name, JSON.stringify(object), at);
    };
    for (const { text } of volumesOf(names, 1)) put(intents, JSON.parse(text) as Stored);
    for (const { text } of indicesOf(states.snapshot().objects(), 1)) put(states, JSON.parse(text) as Stored);
    const server = await startPretendedServer(cluster);
    const access = { server: `https://127.0.0.1:${server.port}`, ca: server.ca, token: "of-nobody" };
    const client = createApiClient(access);
    const index = startIndexWriter({
      system,
      client,
      failed(error) {
        if (ends.length > 0) throw new Error(error);
      },
    });
    const [seen, said]: [string[], string[]] = [[], []];
    const tally: Tally = {
      saw: ({ metadata: { name, generation } }) => void seen.push(`${name} ${generation}`),
      said: (state) => void said.push(state),
      restarted() {},
      failed: (what) => void said.push(what),
      opening() {},
    };
    const agent = createAgent({ system, way, ...access, node: names.node(1), tally });
    ends = [() => server.close(), () => client.close(), () => void index.stop(), () => agent.stop()];
    agent.start();
    const change = (node: number, spec: object) => {
      const served = cluster.served("/apis/nodevolume.dev/v1alpha1", "nodevolumeintents");
      if (served === undefined) throw new Error("no intents are served");
      const target = { served, namespace: undefined, name: volumeName(names.node(node), 0) };
      return server.writes.mergePatch(target, { spec }, false);
    };
    const status = () =>
      (JSON.parse(intents.get(volumeName(names.node(1), 0)) ?? "{}") as { status: { observedGeneration: number } })
        .status;
    const indexed = (node: string) =>
      (JSON.parse(states.get(node) ?? "{}") as NodeVolumeState).spec?.intents?.[0]?.generation;
    return { agent, seen, said, change, status, indexed, server };
  }

  for (const way of ["watch", "index"] as const) {
    it(`by ${way} it sees its own intents alone, and writes the status of each spec once`, async () => {
      const { agent, seen, said, change, status, indexed, server } = await story(way);
      const name = volumeName("node-000001", 0);
      await until("the intent to be read", 5_000, () => seen.length > 0 && agent.connected());
      change(0, { unmountPolicy: { timeoutSeconds: 70 } });
      change(1, { unmountPolicy: { timeoutSeconds: 71 } });
      await until("the status", 5_000, () => status().observedGeneration === 3 && said.length > 0);
      expect(seen).to.deep.equal([`${name} 2`, `${name} 3`]);
      expect(said).to.deep.equal(["Mounted"]);
      expect(server.requests.get("watch nodevolumeintents")).to.equal(way === "watch" ? 2 : 1);
      expect(server.requests.get("patch nodevolumeintents/status")).to.equal(1);
      change(2, { unmountPolicy: { timeoutSeconds: 72 } });
      await until("its index", 5_000, () => indexed("node-000002") === 3);
      expect(server.requests.get("patch nodevolumestates"), "a status changes no index").to.equal(3);
    });
  }
});
