import { readFileSync } from "node:fs";
import { type ApiClient, mergePatch } from "../api-client.ts";
import { StepError } from "../process.ts";

export interface NodeRef {
  readonly name: string;
  readonly uid: string;
}

/**
 * Makes a Node as a kubelet registers it: Ready, with the boot id of this machine, by which a restart of it would be
 * known.
 * @param labels further labels
 */
export async function createNodeObject(
  admin: ApiClient,
  name: string,
  labels: { [key: string]: string } = {},
): Promise<NodeRef> {
  const made = await admin.call("POST", "/api/v1/nodes", {
    body: {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name, labels: { "kubernetes.io/hostname": name, "kubernetes.io/os": "linux", ...labels } },
    },
  });
  const uid = (made.body["metadata"] as { uid?: string } | undefined)?.uid;
  if (made.status !== 201 || uid === undefined) {
    throw new StepError(`the Node ${name} could not be made`, {
      details: [`${made.status} ${String(made.body["message"])}`],
      remedy: "choose another name",
    });
  }
  const bootID = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  await reportReady(admin, name, bootID);
  return { name, uid };
}

/** Writes the Node's status as its kubelet would, and takes the taint of a new Node away. */
export async function reportReady(admin: ApiClient, name: string, bootID: string, ready = true): Promise<void> {
  const now = new Date().toISOString();
  const condition = {
    type: "Ready",
    status: ready ? "True" : "Unknown",
    reason: ready ? "KubeletReady" : "NodeStatusUnknown",
    message: "pretended",
    lastHeartbeatTime: now,
    lastTransitionTime: now,
  };
  await admin.call("PATCH", `/api/v1/nodes/${name}/status`, {
    contentType: mergePatch,
    body: { status: { conditions: [condition], nodeInfo: { ...noInfo, bootID } } },
  });
  await admin.call("PATCH", `/api/v1/nodes/${name}`, { contentType: mergePatch, body: { spec: { taints: null } } });
}

/** Every field of nodeInfo is required, and nobody reads these. */
const noInfo = {
  machineID: "",
  systemUUID: "",
  kernelVersion: "",
  osImage: "",
  containerRuntimeVersion: "",
  kubeletVersion: "v1.36.3",
  kubeProxyVersion: "",
  operatingSystem: "linux",
  architecture: "amd64",
};
