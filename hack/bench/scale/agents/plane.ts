// One real kube-apiserver and etcd on the disk, with Nodes, NodeVolumeStates and Leases as a cluster that was served
// before has them.
import { join } from "node:path";
import { resource } from "../../../../src/api/names.ts";
import { type ApiClient, createApiClient, mergePatch } from "../../../lib/api-client.ts";
import { writeKubeconfig } from "../../../lib/control-plane/credentials.ts";
import { etcdSocket } from "../../../lib/control-plane/flags.ts";
import { requestToken } from "../../../lib/control-plane/identities.ts";
import { installProject } from "../../../lib/control-plane/install.ts";
import { type ControlPlane, startControlPlane } from "../../../lib/control-plane/start.ts";
import { createKubectl } from "../../../lib/kubectl.ts";
import { locateTool, locateTools } from "../../../lib/tools/locate.ts";
import { createCluster } from "../generator/cluster.ts";
import { namesOf, uidOf } from "../generator/shape.ts";
import { atMost } from "../through-api/at-most.ts";
import { putAll } from "../through-api/etcd.ts";
import { startKwok } from "../through-api/kwok.ts";
import { seed } from "../through-api/seed.ts";
import type { Way } from "./agent.ts";
import type { AgentIdentity } from "./fleet.ts";
import { indicesOf, volumesOf } from "./volumes.ts";

export interface LabOptions {
  /** With index, the states have one. */
  readonly way: Way;
  readonly nodes: number;
  /** Intents of each node that are there at first. */
  readonly volumes: number;
  /** Seconds that kwok's Node Leases last, which it renews four times as often; 0: no kwok. */
  readonly kwokLeaseSeconds: number;
  readonly directory: string;
  readonly report: (line: string) => void;
}

export interface Lab {
  readonly plane: ControlPlane;
  readonly nodes: number;
  /** With the controller's rights. */
  readonly controller: ApiClient;
  readonly controllerToken: string;
  node(index: number): string;
  /** Agents of nodes from `first` on, each with a token that is bound to its Node. */
  identities(first: number, count: number): Promise<AgentIdentity[]>;
  stop(): Promise<void>;
}

/** Requests at a time. */
const atOnce = 16;

export async function startLab(options: LabOptions): Promise<Lab> {
  const { directory, report, nodes } = options;
  const ends: (() => Promise<void> | void)[] = [];
  const stop = async () => {
    for (const end of ends.reverse()) await end();
  };
  try {
    return await prepare();
  } catch (error) {
    await stop();
    throw error;
  }

  async function prepare(): Promise<Lab> {
    const found = { env: process.env, report };
    const tools = await locateTools(found);
    const kwok = options.kwokLeaseSeconds > 0 ? await locateTool("kwok", found) : undefined;
    const plane = await startControlPlane({ tools, directory, measured: true });
    ends.push(() => plane.stop());
    const { admin, server, ca } = plane;
    const kubeconfig = join(directory, "admin.kubeconfig");
    writeKubeconfig(kubeconfig, { server, ca, user: "bootstrap-admin", token: plane.credentials.adminToken });
    await installProject({ kubectl: createKubectl(plane.kubectl, kubeconfig), admin, server, ca });
    const names = namesOf({ ...noPods, nodes });
    const cluster = createCluster(names);
    const etcd = join(directory, etcdSocket);
    await seed(etcd, cluster, report);
    report(`  putting ${nodes * options.volumes} intents`);
    await putAll(etcd, volumesOf(names, options.volumes));
    const states = cluster.of(resource.states).snapshot().objects();
    if (options.way === "index") await putAll(etcd, indicesOf(states, options.volumes));
    if (kwok !== undefined) {
      const { kwokLeaseSeconds: leaseSeconds } = options;
      const pretending = await startKwok(kwok, { plane, directory, leaseSeconds });
      ends.push(() => pretending.stop());
    }
    const controllerToken = await requestToken(admin, "nodevolume-controller");
    const controller = createApiClient({ server, ca, token: controllerToken });
    ends.push(() => controller.close());
    return {
      plane,
      nodes,
      controller,
      controllerToken,
      node: names.node,
      async identities(first, count) {
        const identities: AgentIdentity[] = [];
        await atMost(atOnce, Array(count).keys(), async (index) => {
          const name = names.node(first + index);
          const bound = { kind: "Node", name, uid: uidOf(2, first + index) } as const;
          identities.push({ node: name, token: await requestToken(admin, "nodevolume-agent", bound) });
        });
        return identities;
      },
      stop,
    };
  }
}

const noPods = {
  podsPerNode: 0,
  podsPerNamespace: 1,
  oneInUses: 1,
  ordinary: 0,
  ours: 0,
  attached: false,
  established: true,
  spare: 0,
} as const;

/** Changes an object by a merge patch. @throws Error with the server's answer */
export async function change(client: ApiClient, path: string, body: object): Promise<Changed> {
  const answer = await client.call("PATCH", path, { body, contentType: mergePatch });
  if (answer.status === 200) return answer.body as unknown as Changed;
  throw new Error(`PATCH ${path}: ${answer.status} ${String(answer.body["message"])}`);
}

export interface Changed {
  readonly metadata: { readonly name: string; readonly uid: string; readonly generation: number };
}
