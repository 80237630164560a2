// One real kube-apiserver and etcd on the disk, with kwok for Nodes and Pods: the same questions as to the generator.
import { join } from "node:path";
import { resource, systemNamespace } from "../../../../src/api/names.ts";
import type { NodeVolumeIntent } from "../../../../src/api/types.gen.ts";
import { resourcePath } from "../../../../src/kube/client/resource-path.ts";
import { createApiClient, mergePatch } from "../../../lib/api-client.ts";
import { writeKubeconfig } from "../../../lib/control-plane/credentials.ts";
import { etcdSocket } from "../../../lib/control-plane/flags.ts";
import { requestToken } from "../../../lib/control-plane/identities.ts";
import { installProject } from "../../../lib/control-plane/install.ts";
import { startControlPlane } from "../../../lib/control-plane/start.ts";
import { createKubectl } from "../../../lib/kubectl.ts";
import { locateTool, locateTools } from "../../../lib/tools/locate.ts";
import type { Way } from "../agents/agent.ts";
import { statusOf } from "../generator/agents.ts";
import { agentBootID, heartbeat } from "../generator/bases.ts";
import { createCluster } from "../generator/cluster.ts";
import type { Calls, PodOrder } from "../generator/process.ts";
import { namesOf } from "../generator/shape.ts";
import type { Backend } from "../generator.ts";
import { type AgentClients, createAgentClients } from "./agent-clients.ts";
import { createPod, fill } from "./fill.ts";
import { followIntents } from "./intents.ts";
import { startKwok } from "./kwok.ts";
import { startManyAgents } from "./many-agents.ts";
import { seed } from "./seed.ts";

/** Milliseconds between two renewals of an agent's Lease. */
const leaseMs = 30_000;

/**
 * @param directory on a disk, for everything that it keeps
 * @param way how an agent for each node hears of its intents; if not given, one watch serves all of them
 */
export function realCluster(directory: string, report: (line: string) => void, way?: Way): Backend {
  const ends: (() => Promise<void> | void)[] = [];
  let begun: Awaited<ReturnType<typeof begin>> | undefined;
  const the = () => {
    if (begun === undefined) throw new Error("begin comes first");
    return begun;
  };

  let told = false;
  function tellOnce(line: string): void {
    if (!told) report(`  ${line}`);
    told = true;
  }

  async function begin(shape: Calls["begin"]["asks"]) {
    const options = { env: process.env, report };
    const kwok = await locateTool("kwok", options);
    const plane = await startControlPlane({ tools: await locateTools(options), directory, measured: true });
    ends.push(() => plane.stop());
    const { admin, server, ca } = plane;
    const kubeconfig = join(directory, "admin.kubeconfig");
    writeKubeconfig(kubeconfig, { server, ca, user: "bootstrap-admin", token: plane.credentials.adminToken });
    await installProject({ kubectl: createKubectl(plane.kubectl, kubeconfig), admin, server, ca });
    const cluster = createCluster(namesOf(shape));
    const from = performance.now();
    if (shape.established) await seed(join(directory, etcdSocket), cluster, report);
    else await fill(admin, cluster, report);
    report(`  the cluster was written in ${((performance.now() - from) / 1000).toFixed(0)} s`);
    const pretending = await startKwok(kwok, { plane, directory, leaseSeconds: 40 });
    ends.push(() => pretending.stop());
    const token = await requestToken(admin, "nodevolume-controller");
    const client = createApiClient({ server, ca, token });
    ends.push(() => client.close());
    const agents = createAgentClients(plane);
    ends.push(() => agents.close());
    const podUIDs = new Map<string, { readonly at: number; readonly seen: Set<string> }>();
    const many = way && (await startManyAgents({ plane, names: cluster.names, way, report }));
    if (many) ends.push(() => many.stop());
    const intents = followIntents(client, {
      async speak(intent) {
        if (many) return undefined; // its own agent does
        const status = statusOf(intent, agentBootID, new Date().toISOString().replace(/\.\d+/, ""));
        if (status === undefined) return undefined;
        const path = resourcePath(resource.intents, { name: intent.metadata.name, subresource: "status" });
        const { uid, resourceVersion } = intent.metadata;
        const body = { metadata: { uid, resourceVersion }, status };
        const agent = await agents.of(intent.spec.nodeName);
        const answer = await agent.call("PATCH", path, { body, contentType: mergePatch });
        if (answer.status === 200) return status.state;
        // Of another version by now: the watch tells of that one, too.
        if (answer.status !== 409 && answer.status !== 404) tellOnce(`${path}: ${String(answer.body["message"])}`);
        return undefined;
      },
      saw: (intent) => note(intent),
    });
    ends.push(() => intents.stop());
    const latencies: Calls["latencies"]["says"] = { observed: [], managed: [] };
    function note({ spec }: NodeVolumeIntent): void {
      const kind = spec.mode === "Observe" ? "observed" : "managed";
      for (const { namespace, name } of spec.pods ?? []) {
        const started = podUIDs.get(`${namespace}/${name}`);
        if (started === undefined || started.seen.has(kind)) continue;
        started.seen.add(kind);
        latencies[kind].push(performance.now() - started.at);
      }
    }
    if (!many) ends.push(renewLeases(agents, cluster.names));
    return { plane, cluster, client, intents, many, latencies, podUIDs, access: { server, ca, token } };
  }

  const indices = ({ first, count }: PodOrder) => {
    const { pods } = the().cluster.names;
    return Array.from({ length: count }, (_, index) => pods + first + index);
  };

  async function paced(order: PodOrder, act: (pod: number) => Promise<void>): Promise<undefined> {
    const from = performance.now();
    const acts: Promise<void>[] = [];
    for (const [index, pod] of indices(order).entries()) {
      await new Promise((resolve) =>
        setTimeout(resolve, Math.max(0, from + index * order.everyMs - performance.now())),
      );
      acts.push(act(pod));
    }
    await Promise.all(acts);
    return undefined;
  }

  const handlers: { readonly [C in keyof Calls]: (asks: Calls[C]["asks"]) => Promise<Calls[C]["says"]> } = {
    async begin(shape) {
      begun = await begin(shape);
      return begun.access;
    },
    async counts() {
      const { intents, client, many } = the();
      const states = await client.call("GET", `${resourcePath(resource.states)}?limit=1`);
      const { remainingItemCount = 0 } = states.body["metadata"] as { remainingItemCount?: number };
      const listed = (states.body["items"] as unknown[]).length;
      // A real server does not say what it is still sending.
      const ofMany = many && { said: many.said(), requests: await many.requests() };
      return { ...intents.counts(), ...ofMany, listing: 0, states: listed + remainingItemCount };
    },
    startPods: (order) =>
      paced(order, async (pod) => {
        const { cluster, plane, podUIDs } = the();
        const { names } = cluster;
        podUIDs.set(`${names.namespaceOfPod(pod)}/${names.pod(pod)}`, { at: performance.now(), seen: new Set() });
        await createPod(plane.admin, cluster, pod);
      }),
    stopPods: (order) =>
      paced(order, async (pod) => {
        const { cluster, plane } = the();
        const { names } = cluster;
        const path = resourcePath(resource.pods, { namespace: names.namespaceOfPod(pod), name: names.pod(pod) });
        await plane.admin.call("DELETE", `${path}?gracePeriodSeconds=1`);
      }),
    async latencies() {
      const { observed, managed } = the().latencies;
      return { observed: observed.splice(0), managed: managed.splice(0) };
    },
    async make({ plural, object }) {
      await the().plane.admin.call("POST", `/apis/nodevolume.dev/v1alpha1/${plural}`, {
        body: { apiVersion: "nodevolume.dev/v1alpha1", kind: "NodeVolumeSet", ...object },
      });
      return undefined;
    },
  };
  return {
    call: (call, asks) => handlers[call](asks as never) as never,
    async stop() {
      for (const end of ends.reverse()) await end();
    },
  };
}

/** The stand-in for the agents shows signs of life, too. */
function renewLeases(agents: AgentClients, names: ReturnType<typeof namesOf>): () => void {
  const { nodes } = names.shape;
  let next = 0;
  const timer = setInterval(() => {
    const name = names.node(next % nodes);
    const path = resourcePath(resource.leases, { namespace: systemNamespace });
    const first = next < nodes;
    const spec = { holderIdentity: name, leaseDurationSeconds: 180, renewTime: heartbeat(Date.now()) };
    const body = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name }, spec };
    next += 1;
    const write = async () => {
      const client = await agents.of(name);
      if (first) await client.call("POST", path, { body });
      else await client.call("PATCH", `${path}/${name}`, { body: { spec }, contentType: mergePatch });
    };
    write().catch(() => undefined); // the next one is half a minute away
  }, leaseMs / nodes);
  return () => clearInterval(timer);
}
