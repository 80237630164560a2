import { expect } from "chai";
import { statusOf } from "../../../hack/bench/scale/generator/agents.ts";
import { agentBootID } from "../../../hack/bench/scale/generator/bases.ts";
import { createCluster } from "../../../hack/bench/scale/generator/cluster.ts";
import { type PretendedServer, startPretendedServer } from "../../../hack/bench/scale/generator/server.ts";
import { namesOf, type Shape } from "../../../hack/bench/scale/generator/shape.ts";
import { silent } from "../../../hack/lib/silent-log.ts";
import type { KubeObject } from "../../../src/api/meta.ts";
import { label, resource, systemNamespace } from "../../../src/api/names.ts";
import type { NodeVolumeIntent } from "../../../src/api/types.gen.ts";
import { projectPod } from "../../../src/controller/model/pod-entry.ts";
import { ApiError } from "../../../src/kube/client/api-error.ts";
import { createKubeClient } from "../../../src/kube/client/client.ts";
import { createHttpTransport } from "../../../src/kube/client/http-transport.ts";
import { createReflector } from "../../../src/kube/watch/reflector.ts";
import { realSystem } from "../../../src/system.ts";

const shape: Shape = {
  nodes: 20,
  podsPerNode: 30,
  podsPerNamespace: 100,
  oneInUses: 1,
  ordinary: 1,
  ours: 1,
  attached: true,
  established: false,
  spare: 10,
};

describe("the generator of large clusters, as src/kube sees it", () => {
  let end = () => {};
  afterEach(() => end());

  async function story(of: Shape = shape) {
    const cluster = createCluster(namesOf(of));
    const server: PretendedServer = await startPretendedServer(cluster);
    const system = realSystem(silent);
    const transport = createHttpTransport({
      system,
      server: `https://127.0.0.1:${server.port}`,
      ca: server.ca,
      token: { current: () => Promise.resolve("token"), refused() {} },
      userAgent: "test",
    });
    const client = createKubeClient({ transport, fieldManager: "test" });
    const reflectors: { stop(): void }[] = [];
    const follow = <T extends KubeObject>(
      one: typeof resource.pods | typeof resource.leases,
      project: (raw: unknown) => T | undefined,
      fieldSelector?: string,
    ) => {
      const reflector = createReflector<T>({
        system,
        transport,
        resource: one as never,
        project,
        ...(fieldSelector && { fieldSelector }),
      });
      reflectors.push(reflector);
      reflector.start();
      return reflector;
    };
    end = () => {
      for (const one of reflectors) one.stop();
      transport.close();
      server.close();
    };
    return { cluster, server, client, follow };
  }

  const asIs = (raw: unknown) => raw as KubeObject;
  const notEnded = "status.phase!=Succeeded,status.phase!=Failed";

  it("streams all pods, of full size, and then what changes", async () => {
    const { cluster, follow } = await story();
    const pods = follow(resource.pods, asIs, notEnded);
    await pods.synced();
    expect(pods.store.size).to.equal(600);
    const [first] = pods.store.list();
    expect(JSON.stringify(first).length).to.be.within(3_000, 8_000);
    const projected = projectPod(first);
    expect(projected?.claims).to.have.lengthOf(1);
    expect(projected?.volumes.map(({ request }) => request)).to.deep.equal([
      { wants: { persistentVolumeClaim: "data-000001" }, readOnly: false },
    ]);

    const { namespace = "", name = "" } = first?.metadata ?? {};
    const version = cluster.nextVersion();
    const ended = {
      ...first,
      metadata: { ...first?.metadata, resourceVersion: String(version) },
      status: { phase: "Failed" },
    };
    const gone = new Promise<void>((resolve) => {
      pods.store.subscribe({ onDelete: ({ metadata }) => metadata.name === name && resolve() });
    });
    cluster.of(resource.pods).put(`${namespace}/${name}`, JSON.stringify(ended), version);
    await gone;
    expect(pods.store.size).to.equal(599);
  });

  it("lists in pages of one moment, and one namespace alone", async () => {
    const { client, cluster } = await story();
    const all = await client.list(resource.pods);
    expect(new Set(all.items.map(({ metadata }) => metadata.uid)).size).to.equal(600);
    const namespace = cluster.names.namespace(2);
    const some = await client.list(resource.pods, { namespace, fieldSelector: notEnded });
    expect(some.items).to.have.lengthOf(100);
    expect(some.items.every(({ metadata }) => metadata.namespace === namespace)).to.equal(true);
    expect((await client.list(resource.volumeAttachments)).items).to.have.lengthOf(610);
    expect((await client.list(resource.claims)).items).to.have.lengthOf(1_220);
  });

  it("goes on from a version, and says that one is too old", async () => {
    const { cluster } = await story();
    const { log } = cluster.of(resource.leases);
    const before = cluster.version();
    for (let index = 0; index < 3; index += 1) {
      const version = cluster.nextVersion();
      cluster.of(resource.leases).put(`${systemNamespace}/node-000001`, "{}", version);
    }
    expect(log.since(before)).to.have.lengthOf(3);
    expect(log.since(before + 2)).to.have.lengthOf(1);
    expect(log.since(1)).to.equal(undefined);
  });

  it("writes as a server does: versions, preconditions, generations, finalizers", async () => {
    const { client } = await story();
    const made = await client.create<NodeVolumeIntent>(resource.intents, intent("node-000001"));
    const { name, uid, resourceVersion } = made.metadata;
    expect(made.metadata.generation).to.equal(1);
    expect(await refused(client.create(resource.intents, intent("node-000001")))).to.equal(409);
    const status = statusOf(
      { ...made, spec: { ...made.spec, grant: { id: "g" } } },
      agentBootID,
      "2026-11-22T00:00:00Z",
    );
    const said = await client.mergePatchStatus<NodeVolumeIntent>(
      resource.intents,
      { name, uid, resourceVersion },
      status ?? {},
    );
    expect(said.metadata.generation).to.equal(1);
    expect(said.status.state).to.equal("Mounted");
    expect(
      await refused(client.mergePatch(resource.intents, { name, uid, resourceVersion }, { spec: { suspend: true } })),
    ).to.equal(409);
    const changed = await client.mergePatch<NodeVolumeIntent>(
      resource.intents,
      { name, uid },
      { spec: { suspend: true } },
    );
    expect(changed.metadata.generation).to.equal(2);
    expect(await refused(client.mergePatch(resource.intents, { name }, { spec: { nodeName: 7 } }))).to.equal(422);
    const deleting = await client.delete<NodeVolumeIntent>(resource.intents, { name, uid });
    expect(deleting?.metadata.deletionTimestamp).to.be.a("string");
    expect(deleting?.metadata.generation).to.equal(3);
    await client.mergePatch(resource.intents, { name, uid }, { metadata: { finalizers: [] } });
    expect(await client.get(resource.intents, { name })).to.equal(undefined);
  });

  it("refuses a pod on trial that names a claim which its owner keeps pods out of", async () => {
    const { client, cluster } = await story();
    const [ordinary = 0, ours = 0] = cluster.names.claimsOf(7);
    const namespace = cluster.names.namespaceOfPod(7);
    const pod = (claim: number) => {
      const persistentVolumeClaim = { claimName: cluster.names.claim(claim) };
      return { metadata: { name: "probe", namespace }, spec: { volumes: [{ name: "v", persistentVolumeClaim }] } };
    };
    await client.create(resource.pods, pod(ordinary) as never, { dryRun: true });
    const why = await client
      .create(resource.pods, pod(ours) as never, { dryRun: true })
      .catch((error: Error) => error.message);
    expect(why).to.contain(label.reserved);
    expect(await client.get(resource.pods, { name: "probe", namespace })).to.equal(undefined);
  });
});

function intent(nodeName: string): NodeVolumeIntent {
  const spec = {
    nodeName,
    nodeUID: "u",
    volumeName: "data",
    mode: "Manage",
    volumeMode: "Filesystem",
    source: { hostPath: { path: "/srv/data" } },
    mounts: [],
    pods: [{ uid: "p", namespace: "team", name: "app", volume: "v1" }],
  };
  return { metadata: { name: `${nodeName}.data-1`, finalizers: ["nodevolume.dev/in-use"] }, spec } as never;
}

function refused(request: Promise<unknown>): Promise<number | undefined> {
  return request.then(
    () => undefined,
    (error: unknown) => (error instanceof ApiError ? error.status : undefined),
  );
}
