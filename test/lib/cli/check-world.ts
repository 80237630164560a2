// An installation as its objects show it, on an API server without kubelets: workloads, pods, Leases and reports are
// written as whoever would write them.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { loadAll } from "js-yaml";
import type { ApiClient } from "../../../hack/lib/api-client.ts";
import { root } from "../../../hack/lib/root.ts";
import { expectStatus, patch, paths } from "../cluster/policy-world.ts";
import { ago, condition, type Fields, posting } from "./cli-post.ts";

const system = "/api/v1/namespaces/nodevolume-system";
const apps = "/apis/apps/v1/namespaces/nodevolume-system";
const csiDrivers = "/apis/storage.k8s.io/v1/csidrivers";
const leader = "nodevolume-controller-6c9d7f4b58-x2x7k";

export interface StagedInstallation {
  /** Everything is as before. */
  remove(): Promise<void>;
}

const labels = (component: string) => ({
  "app.kubernetes.io/name": "node-volume-operator",
  "app.kubernetes.io/component": component,
});

const podSpec = (component: string) => ({
  serviceAccountName: `nodevolume-${component}`,
  automountServiceAccountToken: false,
  containers: [{ name: component, image: "node-volume-operator:0.1.0" }],
});

/** The Deployment or DaemonSet of a file of config/. */
function workloadOf(file: string): { metadata: { name: string } } & Fields {
  const objects = loadAll(readFileSync(join(root, "config", file), "utf8")) as ({ kind: string } & Fields)[];
  const found = objects.find(({ kind }) => kind === "Deployment" || kind === "DaemonSet");
  if (found === undefined) throw new Error(`${file} has no workload`);
  return found as unknown as { metadata: { name: string } } & Fields;
}

/** @param crashing nodes whose agent ends again and again */
export async function stageInstallation(
  admin: ApiClient,
  nodes: readonly string[],
  crashing: readonly string[] = [],
): Promise<StagedInstallation> {
  const post = posting(admin);
  const undo: (() => Promise<unknown>)[] = [];
  const make = async (path: string, body: { metadata: { name: string } } & Fields, status?: Fields) => {
    await post(path, body, status);
    undo.push(() => admin.call("DELETE", `${path}/${body.metadata.name}?gracePeriodSeconds=0`));
  };
  const pod = (name: string, component: string, nodeName: string, isReady: boolean) => {
    const waiting = {
      reason: "CrashLoopBackOff",
      message: "back-off 5m0s restarting failed container=agent",
    };
    const state = isReady ? { running: { startedAt: ago(3000) } } : { waiting };
    const status = {
      phase: "Running",
      conditions: [{ type: "Ready", status: isReady ? "True" : "False" }],
      containerStatuses: [{ name: component, image: "", imageID: "", ready: isReady, restartCount: 0, state }],
    };
    const body = { metadata: { name, labels: labels(component) }, spec: { ...podSpec(component), nodeName } };
    return make(`${system}/pods`, body, status);
  };
  const [first = "", second = first] = nodes;
  const data = { NODEVOLUME_ALLOWED_PREFIXES: "/var/lib/nodevolume/mounts" };
  await make(`${system}/configmaps`, { metadata: { name: "nodevolume-settings" }, data });
  await make(`${apps}/deployments`, workloadOf("controller/deployment.yaml"));
  await make(`${apps}/daemonsets`, workloadOf("agent/daemonset.yaml"));
  await pod(leader, "controller", first, true);
  await pod("nodevolume-controller-6c9d7f4b58-8kq5z", "controller", second, true);
  const spec = { holderIdentity: leader, leaseDurationSeconds: 7200, renewTime: `${ago(2).slice(0, -1)}.000000Z` };
  await make(paths.leases, { metadata: { name: "nodevolume-controller" }, spec });
  const driver = {
    attachRequired: false,
    podInfoOnMount: true,
    fsGroupPolicy: "None",
    volumeLifecycleModes: ["Ephemeral"],
  };
  await make(csiDrivers, { metadata: { name: "csi.nodevolume.dev" }, spec: driver });
  for (const node of nodes) {
    await reportNode(admin, node);
    const isReady = !crashing.includes(node);
    await pod(`nodevolume-agent-${node}`, "agent", node, isReady);
    if (isReady) undo.push(await report(admin, node));
  }
  return {
    async remove() {
      for (const one of undo.reverse()) await one();
    },
  };
}

/** What a kubelet shows of its node. */
async function reportNode(admin: ApiClient, node: string): Promise<void> {
  const nodeInfo = {
    kernelVersion: "6.12.48+deb13-amd64",
    osImage: "Debian GNU/Linux 13 (trixie)",
    containerRuntimeVersion: "containerd://2.1.3",
  };
  expectStatus(200, await patch(admin, `/api/v1/nodes/${node}/status`, { status: { nodeInfo } }));
}

/** What an agent reports of its node. @returns what makes it as it was */
async function report(admin: ApiClient, node: string): Promise<() => Promise<unknown>> {
  const path = `${paths.states}/${node}`;
  const found = await admin.call("GET", path);
  const inSync = condition("Ready", "True", "InSync");
  if (found.status === 200) {
    const { status = {} } = found.body as { status?: { conditions?: object[] } };
    const { conditions = [] } = status;
    expectStatus(200, await patch(admin, `${path}/status`, { status: { conditions: [inSync, ...conditions] } }));
    return () => patch(admin, `${path}/status`, { status: { conditions } });
  }
  const agent = { version: "0.1.0", bootID: "b", epoch: 3 };
  await posting(admin)(paths.states, { metadata: { name: node } }, { agent, synced: true, conditions: [inSync] });
  return () => admin.call("DELETE", path);
}
