// ServiceAccounts of the programs beside a driver: none of them works with an administrator's token.
import { join } from "node:path";
import type { ApiCall, ApiClient } from "../api-client.ts";
import { applyPatch } from "../api-client.ts";
import { writeKubeconfig } from "../control-plane/credentials.ts";
import { StepError } from "../process.ts";
import type { Rule } from "./rights.ts";

/** Whose administrator prepares things. */
export interface Plane {
  readonly admin: ApiClient;
  readonly server: string;
  readonly ca: string;
}

export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly [key: string]: unknown };
  readonly [key: string]: unknown;
}

const rbac = "rbac.authorization.k8s.io";
/** Seconds. */
const lifetime = 24 * 3600;

/** Makes an account with these rights. @returns the path of its kubeconfig beneath `directory` */
export async function accountWith(
  plane: Plane,
  account: { readonly namespace: string; readonly name: string },
  rights: readonly Rule[] | { readonly clusterRole: string },
  directory: string,
): Promise<string> {
  const { namespace, name } = account;
  await apply(plane.admin, "/api/v1/namespaces", {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: namespace },
  });
  const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`;
  await apply(plane.admin, accounts, { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace } });
  const role = "clusterRole" in rights ? rights.clusterRole : `test-${name}`;
  if (!("clusterRole" in rights)) {
    const object = { apiVersion: `${rbac}/v1`, kind: "ClusterRole", metadata: { name: role }, rules: rights };
    await apply(plane.admin, `/apis/${rbac}/v1/clusterroles`, object);
  }
  await apply(plane.admin, `/apis/${rbac}/v1/clusterrolebindings`, {
    apiVersion: `${rbac}/v1`,
    kind: "ClusterRoleBinding",
    metadata: { name: `test-${name}` },
    roleRef: { apiGroup: rbac, kind: "ClusterRole", name: role },
    subjects: [{ kind: "ServiceAccount", namespace, name }],
  });
  const path = join(directory, `${name}.kubeconfig`);
  const token = await tokenOf(plane.admin, `${accounts}/${name}/token`);
  writeKubeconfig(path, { server: plane.server, ca: plane.ca, user: name, token });
  return path;
}

/** Makes or changes an object. @throws StepError with the API server's message */
export async function apply(admin: ApiClient, collection: string, object: KubeObject): Promise<void> {
  const path = `${collection}/${object.metadata.name}?fieldManager=test&force=true`;
  await expectSuccess(admin, "PATCH", path, { body: object, contentType: applyPatch });
}

async function tokenOf(admin: ApiClient, path: string): Promise<string> {
  const spec = { audiences: [], expirationSeconds: lifetime };
  const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec };
  const answer = await expectSuccess(admin, "POST", path, { body });
  return (answer["status"] as { token: string }).token;
}

async function expectSuccess(admin: ApiClient, method: string, path: string, call: ApiCall) {
  const { status, body } = await admin.call(method, path, call);
  if (status < 300) return body;
  throw new StepError(`${method} ${path} was answered with ${status}`, {
    details: [String(body["message"])],
    remedy: "the message above is the API server's",
  });
}
