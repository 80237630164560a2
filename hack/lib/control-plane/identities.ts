import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { systemNamespace } from "../../../src/api/names.ts";
import type { ApiClient } from "../api-client.ts";
import { StepError } from "../process.ts";

/** The object that a token lives and dies with. Its name and UID stand in the token, for policies to read. */
export interface BoundTo {
  readonly kind: "Node" | "Pod" | "Secret";
  readonly name: string;
  readonly uid: string;
}

/** What a role needs to reach the API server as itself. */
export interface Identity {
  readonly caFile: string;
  readonly tokenFile: string;
}

/** Seconds. Longer than anybody leaves a demonstration running. */
const lifetime = 7 * 24 * 3600;

/**
 * A token of a ServiceAccount, as the kubelet would ask for one.
 * @param namespace of the account; ours if not given
 * @param audiences that it is good for; the API server's own if not given
 */
export async function requestToken(
  admin: ApiClient,
  serviceAccount: string,
  boundTo?: BoundTo,
  namespace: string = systemNamespace,
  audiences: readonly string[] = [],
): Promise<string> {
  const boundObjectRef = boundTo === undefined ? undefined : { apiVersion: "v1", ...boundTo };
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${serviceAccount}/token`;
  const answer = await admin.call("POST", path, {
    body: {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenRequest",
      spec: { audiences, expirationSeconds: lifetime, boundObjectRef },
    },
  });
  const token = (answer.body["status"] as { token?: string } | undefined)?.token;
  if (answer.status === 201 && token !== undefined) return token;
  throw new StepError(`no token for the ServiceAccount ${serviceAccount}`, {
    details: [`${answer.status} ${String(answer.body["message"])}`],
    remedy: `the verb create on serviceaccounts/token in ${namespace} is needed`,
  });
}

/** The agent of one Node. */
export async function agentIdentity(
  access: { admin: ApiClient; ca: string },
  node: { name: string; uid: string },
  directory: string,
): Promise<Identity> {
  const token = await requestToken(access.admin, "nodevolume-agent", { kind: "Node", ...node });
  return writeIdentity(directory, access.ca, token);
}

/** The controller; its token is bound to a Secret that exists for this alone: delete it, and the token is refused. */
export async function controllerIdentity(
  access: { admin: ApiClient; ca: string },
  labels: { [key: string]: string },
  directory: string,
): Promise<Identity> {
  const name = "nodevolume-controller-token-binding";
  const path = `/api/v1/namespaces/${systemNamespace}/secrets`;
  const body = { apiVersion: "v1", kind: "Secret", metadata: { name, labels } };
  const made = await access.admin.call("POST", path, { body });
  const secret = made.status === 409 ? await access.admin.call("GET", `${path}/${name}`) : made;
  const uid = (secret.body["metadata"] as { uid: string }).uid;
  const token = await requestToken(access.admin, "nodevolume-controller", { kind: "Secret", name, uid });
  return writeIdentity(directory, access.ca, token);
}

function writeIdentity(directory: string, ca: string, token: string): Identity {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const identity = { caFile: join(directory, "ca.crt"), tokenFile: join(directory, "token") };
  writeFileSync(identity.caFile, ca);
  writeFileSync(identity.tokenFile, token, { mode: 0o600 });
  return identity;
}
