import { createPrivateKey, sign } from "node:crypto";
import { readFileSync } from "node:fs";
import type { ApiClient } from "../../../hack/lib/api-client.ts";

/**
 * A token of a ServiceAccount from a Secret, made as kube-controller-manager makes it (pkg/serviceaccount/legacy.go):
 * signed with the cluster's own key, good until the Secret goes, bound to nothing.
 * @param keyFile of the cluster, with which its tokens are signed (ES256)
 */
export async function legacyToken(
  admin: ApiClient,
  keyFile: string,
  { namespace, account, secret }: { readonly namespace: string; readonly account: string; readonly secret: string },
): Promise<string> {
  const found = await admin.call("GET", `/api/v1/namespaces/${namespace}/serviceaccounts/${account}`);
  const { uid } = found.body["metadata"] as { uid: string };
  const prefix = "kubernetes.io/serviceaccount";
  const claims = {
    iss: "kubernetes/serviceaccount",
    sub: `system:serviceaccount:${namespace}:${account}`,
    [`${prefix}/namespace`]: namespace,
    [`${prefix}/secret.name`]: secret,
    [`${prefix}/service-account.name`]: account,
    [`${prefix}/service-account.uid`]: uid,
  };
  const coded = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");
  const signed = `${coded({ alg: "ES256", typ: "JWT" })}.${coded(claims)}`;
  const key = createPrivateKey(readFileSync(keyFile));
  const signature = sign("sha256", Buffer.from(signed), { key, dsaEncoding: "ieee-p1363" }).toString("base64url");
  const token = `${signed}.${signature}`;
  const annotations = { "kubernetes.io/service-account.name": account, "kubernetes.io/service-account.uid": uid };
  const body = {
    metadata: { name: secret, annotations },
    type: "kubernetes.io/service-account-token",
    stringData: { token },
  };
  const made = await admin.call("POST", `/api/v1/namespaces/${namespace}/secrets`, { body });
  if (made.status !== 201) throw new Error(`no Secret for a legacy token: ${made.status} ${made.body["message"]}`);
  return token;
}
