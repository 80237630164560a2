// Real control planes with the project installed. The sandbox ends with the lane, and everything with it.
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ApiClient, createApiClient } from "../../../hack/lib/api-client.ts";
import { platformAdmin, writeKubeconfig } from "../../../hack/lib/control-plane/credentials.ts";
import { requestToken } from "../../../hack/lib/control-plane/identities.ts";
import {
  type InstallTarget,
  installProject,
  untilEnforced,
  untilServed,
} from "../../../hack/lib/control-plane/install.ts";
import {
  type ControlPlane,
  type ControlPlaneOptions,
  startControlPlane,
} from "../../../hack/lib/control-plane/start.ts";
import { createKubectl, type Kubectl } from "../../../hack/lib/kubectl.ts";
import { root } from "../../../hack/lib/root.ts";
import { locateTool, locateTools } from "../../../hack/lib/tools/locate.ts";
import { need } from "../asserts/requirements.ts";
import { auditOfOurs } from "./rights-used.ts";

export interface TestCluster {
  readonly directory: string;
  readonly controlPlane: ControlPlane;
  /** The bootstrap administrator: for preparing a test, never for what is tested. */
  readonly admin: ApiClient;
  readonly adminKubectl: Kubectl;
  /** Somebody who runs the platform: the project's own ClusterRole nodevolume-admin, and what a test needs of Nodes. */
  readonly people: ApiClient;
  readonly kubectl: Kubectl;
  /** A client with a token of its own. */
  as(token: string): ApiClient;
  /** A bound token of a ServiceAccount of ours. */
  token: (serviceAccount: string, boundTo?: Parameters<typeof requestToken>[2]) => Promise<string>;
}

let shared: Promise<TestCluster> | undefined;

const audited: string[] = [];

/** Where the clusters of this process have written down what our programs asked for. */
export function auditFiles(): readonly string[] {
  return audited;
}

/** The lane's cluster in which no controller runs, started for whoever asks first; skips where it cannot be. */
export async function testCluster(context: Mocha.Context): Promise<TestCluster> {
  prepare(context);
  shared ??= startCluster();
  return shared;
}

/** For a hook that starts a cluster. */
export function prepare(context: Mocha.Context): void {
  need(context, "root");
  // A tool may have to be built, once.
  context.timeout(20 * 60_000);
}

export interface ClusterOptions extends Pick<ControlPlaneOptions, "audit" | "users"> {
  /** The oldest Kubernetes that is supported, with config/default as an administrator installs it there. */
  readonly oldest?: true;
}

/**
 * A cluster of one's own.
 * @param options what its API server writes to `audit.log`, if not what our programs ask for, and whom it knows besides
 */
export async function startCluster({ oldest, ...options }: ClusterOptions = {}): Promise<TestCluster> {
  const located = { env: process.env, report: (line: string) => console.log(`  ${line}`) };
  const newest = await locateTools(located);
  const tools = oldest ? { ...newest, "kube-apiserver": await locateTool("kube-apiserver-1.32", located) } : newest;
  const directory = mkdtempSync(join(tmpdir(), "nodevolume-cluster-"));
  const controlPlane = await startControlPlane({
    tools,
    directory: join(directory, "control-plane"),
    audit: auditOfOurs,
    ...options,
  });
  if (options.audit === undefined) audited.push(join(controlPlane.directory, "audit.log"));
  const { admin, server, ca, credentials } = controlPlane;
  const kubectlOf = (user: string, token: string) => {
    const path = join(directory, `${user}.kubeconfig`);
    writeKubeconfig(path, { server, ca, user, token });
    return createKubectl(controlPlane.kubectl, path);
  };
  const adminKubectl = kubectlOf("bootstrap-admin", credentials.adminToken);
  await (oldest ? installDefault : installProject)({ kubectl: adminKubectl, admin, server, ca });
  await adminKubectl.run(
    ["apply", "-f", "-"],
    JSON.stringify({ apiVersion: "v1", kind: "List", items: rightsOfPeople }),
  );
  const as = (token: string) => createApiClient({ server, ca, token });
  writeFileSync(join(directory, "ca.crt"), ca);
  return {
    directory,
    controlPlane,
    admin,
    adminKubectl,
    people: as(credentials.peopleToken),
    kubectl: kubectlOf(platformAdmin, credentials.peopleToken),
    as,
    token: (serviceAccount, boundTo) => requestToken(admin, serviceAccount, boundTo),
  };
}

async function installDefault(target: InstallTarget): Promise<void> {
  await target.kubectl.run(["apply", "--server-side", "-k", join(root, "config/default")]);
  await untilServed(target.admin);
  await untilEnforced(target);
}

const rbac = "rbac.authorization.k8s.io";
const user = { kind: "User", apiGroup: rbac, name: platformAdmin };
const binding = (role: string) => ({
  apiVersion: `${rbac}/v1`,
  kind: "ClusterRoleBinding",
  metadata: { name: `people-${role}` },
  roleRef: { apiGroup: rbac, kind: "ClusterRole", name: role },
  subjects: [user],
});

const rightsOfPeople = [
  binding("nodevolume-admin"),
  {
    apiVersion: `${rbac}/v1`,
    kind: "ClusterRole",
    metadata: { name: "test-nodes" },
    rules: [{ apiGroups: [""], resources: ["nodes"], verbs: ["get", "list", "watch", "patch", "update"] }],
  },
  binding("test-nodes"),
];
