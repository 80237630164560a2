import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { loadAll } from "js-yaml";
import { root } from "../../hack/lib/root.ts";
import { until } from "../../hack/lib/until.ts";
import { type TestCluster, testCluster } from "../lib/cluster/cluster.ts";
import { expectStatus } from "../lib/cluster/policy-world.ts";

const namespace = "nodevolume-system";
const pods = `/api/v1/namespaces/${namespace}/pods`;
/** By ServiceAccount, where its pods' manifest is. */
const manifests = {
  "nodevolume-agent": ["config/agent/daemonset.yaml", "config/overlays/observe-only/agent-volumes.yaml"],
  "nodevolume-controller": ["config/controller/deployment.yaml"],
} as const;
const hour = 3_600;

/** Validity that kubelet asks for, as a manifest says it. */
function secondsIn(file: string): number {
  const text = JSON.stringify(loadAll(readFileSync(join(root, file), "utf8")));
  const [, seconds] = /"serviceAccountToken":\{[^}]*"expirationSeconds":(\d+)/.exec(text) ?? [];
  return Number(seconds);
}

/** Seconds from a token's issue to its end. */
function validityOf(token: string): number {
  const claims = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8"));
  return claims.exp - claims.iat;
}

describe("a stolen token of a pod of ours", () => {
  let cluster: TestCluster;
  before(async function () {
    cluster = await testCluster(this);
  });

  async function makePod(name: string, serviceAccountName: string): Promise<string> {
    const containers = [{ name: "c", image: "none" }];
    const spec = { serviceAccountName, automountServiceAccountToken: false, containers };
    const answer = await cluster.admin.call("POST", pods, { body: { metadata: { name }, spec } });
    expectStatus(201, answer);
    return (answer.body["metadata"] as { uid: string }).uid;
  }

  /** As kubelet asks for it. */
  async function tokenOf(serviceAccount: string, pod: { name: string; uid: string }, seconds: number): Promise<string> {
    const boundObjectRef = { apiVersion: "v1", kind: "Pod", ...pod };
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${serviceAccount}/token`;
    const body = { spec: { expirationSeconds: seconds, boundObjectRef } };
    const answer = await cluster.admin.call("POST", path, { body });
    expectStatus(201, answer);
    return (answer.body["status"] as { token: string }).token;
  }

  for (const [serviceAccount, files] of Object.entries(manifests)) {
    it(`is good for an hour, and no longer than its pod: ${serviceAccount}`, async () => {
      const name = `stolen-${serviceAccount}`;
      const pod = { name, uid: await makePod(name, serviceAccount) };
      const path = "/apis/nodevolume.dev/v1alpha1/nodevolumeintents?limit=1";
      for (const file of files) {
        const token = await tokenOf(serviceAccount, pod, secondsIn(file));
        expect(validityOf(token), file).to.equal(hour);
      }
      // Why it matters which number stands there: this one an API server takes for its own, of pods that ask for
      // nothing.
      expect(validityOf(await tokenOf(serviceAccount, pod, hour + 7))).to.equal(365 * 24 * hour);
      const [used, kept] = [await tokenOf(serviceAccount, pod, hour), await tokenOf(serviceAccount, pod, hour)];
      expectStatus(200, await cluster.as(used).call("GET", path));
      expectStatus(200, await cluster.admin.call("DELETE", `${pods}/${name}?gracePeriodSeconds=0`));
      // One that the API server has not seen yet: what it has seen it believes for ten seconds.
      const thief = cluster.as(kept);
      await until("the token to be refused", 10_000, async () => (await thief.call("GET", path)).status === 401);
    });
  }
});
