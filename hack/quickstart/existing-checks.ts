import { readFileSync } from "node:fs";
import { systemNamespace } from "../../src/api/names.ts";
import { ifThere, succeed } from "../lib/api-answer.ts";
import type { ApiClient } from "../lib/api-client.ts";
import type { NodeRef } from "../lib/pretend-node/object.ts";
import { StepError } from "../lib/process.ts";

/** What has to be allowed: verb, group, resource, namespace. */
const rights: readonly (readonly [string, string, string, string?])[] = [
  ["create", "apiextensions.k8s.io", "customresourcedefinitions"],
  ["delete", "apiextensions.k8s.io", "customresourcedefinitions"],
  ["create", "rbac.authorization.k8s.io", "clusterroles"],
  ["create", "rbac.authorization.k8s.io", "clusterrolebindings"],
  ["create", "rbac.authorization.k8s.io", "roles", systemNamespace],
  ["create", "admissionregistration.k8s.io", "validatingadmissionpolicies"],
  ["create", "flowcontrol.apiserver.k8s.io", "flowschemas"],
  ["create", "", "namespaces"],
  ["create", "", "secrets", systemNamespace],
  ["create", "", "serviceaccounts/token", systemNamespace],
  ["create", "nodevolume.dev", "nodevolumesets"],
  ["delete", "nodevolume.dev", "nodevolumesets"],
];

/** Looks before anything is made. @throws StepError with the first thing that is in the way */
export async function checkCluster(client: ApiClient, nodeName: string): Promise<NodeRef> {
  const node = await checkNode(client, nodeName);
  await checkRights(client);
  return node;
}

interface NodeObject {
  readonly metadata: { readonly name: string; readonly uid: string };
  readonly status?: { readonly nodeInfo?: { readonly bootID?: string } };
}

async function checkNode(client: ApiClient, name: string): Promise<NodeRef> {
  const answer = await client.call("GET", `/api/v1/nodes/${encodeURIComponent(name)}`);
  if (answer.status === 404) {
    const list = ((await client.call("GET", "/api/v1/nodes?limit=20")).body["items"] ?? []) as NodeObject[];
    const names = list.map((node) => node.metadata.name).join(", ") || "none";
    throw new StepError(`the cluster has no Node ${name}`, { details: [], remedy: `give --node one of: ${names}` });
  }
  if (answer.status !== 200) {
    throw new StepError(`the Node ${name} cannot be read`, {
      details: [`${answer.status} ${String(answer.body["message"])}`],
      remedy: "use a kubeconfig of a cluster administrator",
    });
  }
  const node = answer.body as unknown as NodeObject;
  const here = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  if (node.status?.nodeInfo?.bootID !== here) {
    throw new StepError(`the Node ${name} is another machine than this one (their boot ids differ)`, {
      details: [`of the Node: ${node.status?.nodeInfo?.bootID ?? "unknown"}`, `of this machine: ${here}`],
      remedy: "run quickstart on the machine of the Node, or name the Node of this machine",
    });
  }
  return { name, uid: node.metadata.uid };
}

async function checkRights(client: ApiClient): Promise<void> {
  const missing: string[] = [];
  for (const [verb, group, resource, namespace] of rights) {
    const [plural, subresource] = resource.split("/");
    const resourceAttributes = { verb, group, resource: plural, subresource, namespace };
    const path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    const answer = await succeed(client, "POST", path, {
      body: { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectAccessReview", spec: { resourceAttributes } },
    });
    if ((answer["status"] as { allowed?: boolean } | undefined)?.allowed !== true) {
      missing.push(
        `${verb} ${resource}${group === "" ? "" : `.${group}`}${namespace === undefined ? "" : ` in ${namespace}`}`,
      );
    }
  }
  if (missing.length > 0) {
    throw new StepError("this kubeconfig may not do what is needed", {
      details: missing,
      remedy: "use a kubeconfig of a cluster administrator; nothing was changed",
    });
  }
}

/** @throws StepError if another agent serves the Node */
export async function checkNoAgent(client: ApiClient, node: string): Promise<void> {
  if ((await liveHolder(client, node)) === undefined) return;
  throw new StepError(`an agent already serves the Node ${node}: its Lease is being renewed`, {
    details: [],
    remedy: "take the DaemonSet off this Node, or apply config/samples/quickstart to the agent that runs",
  });
}

/** Who holds a Lease of ours, unless it has run out. @throws Error if that cannot be read: somebody may hold it */
export async function liveHolder(client: ApiClient, name: string): Promise<string | undefined> {
  const path = `/apis/coordination.k8s.io/v1/namespaces/${systemNamespace}/leases/${encodeURIComponent(name)}`;
  const lease = (await ifThere(client, "GET", path))?.["spec"] as
    | { renewTime?: string; leaseDurationSeconds?: number; holderIdentity?: string }
    | undefined;
  if (lease?.renewTime === undefined || !lease.holderIdentity) return undefined;
  const ends = Date.parse(lease.renewTime) + (lease.leaseDurationSeconds ?? 0) * 1000;
  return ends > Date.now() ? lease.holderIdentity : undefined;
}
