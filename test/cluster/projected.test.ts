import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { root } from "../../hack/lib/root.ts";
import { expectRefused, expectStatus } from "../lib/cluster/policy-world.ts";
import { testWorld, type World } from "../lib/cluster/world.ts";

const namespace = "projected";
const path = "/mnt/nodevolume/host-agent";
const label = "example.com/rack";

describe("a projected volume on a real API server", () => {
  let world: World;
  before(async function () {
    world = await testWorld(this);
    const { adminKubectl } = world.cluster;
    await adminKubectl.run(["create", "namespace", namespace]);
    await adminKubectl.run(["create", "serviceaccount", "reader", "-n", namespace]);
    await adminKubectl.run(["create", "configmap", "settings", "-n", namespace, "--from-literal=motd=one"]);
  });
  after(() => world?.remove("host-agent"));

  const component = (name: string, of: string) => {
    const role = readFileSync(join(root, `config/components/${name}/role.yaml`), "utf8");
    const text = role.replaceAll("replace-with-the-names", of);
    return world.cluster.adminKubectl.run(["apply", "-n", namespace, "-f", "-"], text);
  };
  const waiting = (reason: string) =>
    world.objects.until(reason, 30_000, () =>
      world.objects.intentsOf("host-agent").some((intent) => intent.status?.waiting?.reason === reason),
    );
  const read = (file: string) => world.nodes[0].host.run("cat", `${path}/${file}`);

  it("waits for each right in turn, and names the component that gives it", async () => {
    const [node] = world.nodes;
    await world.cluster.kubectl.run(["label", "node", node.name, `${label}=a1`]);
    const sources = [
      { configMap: { namespace, name: "settings" } },
      { serviceAccountToken: { namespace, serviceAccountName: "reader", audience: "vault", path: "token" } },
      {
        downwardAPI: {
          items: [
            { path: "node/rack", fieldRef: { fieldPath: `metadata.labels['${label}']` } },
            { path: "node/name", fieldRef: { fieldPath: "spec.nodeName" } },
          ],
        },
      },
    ];
    await world.apply("host-agent", {
      nodeSelector: { [label]: "a1" },
      volume: { source: { projected: { defaultMode: 0o400, sources } } },
      mounts: [{ name: "host", path, readOnly: true }],
    });
    await waiting("ConfigMapAccessDenied");
    await component("object-access", "settings");
    await waiting("TokenAccessDenied");
    await component("token-access", "reader");
    await world.objects.ready("host-agent", 1, 90_000);
  });

  it("shows the ConfigMap, fields of the Node, and a token of the account that is bound to the Node", async () => {
    const [node] = world.nodes;
    expect([await read("motd"), await read("node/rack"), await read("node/name")]).to.deep.equal([
      "one",
      "a1",
      node.name,
    ]);
    const token = await read("token");
    const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", spec: { token, audiences: ["vault"] } };
    const answer = await world.cluster.admin.call("POST", "/apis/authentication.k8s.io/v1/tokenreviews", { body });
    const { authenticated, user } = answer.body["status"] as {
      authenticated: boolean;
      user: { username: string; extra: { [key: string]: string[] } };
    };
    expect([authenticated, user.username]).to.deep.equal([true, `system:serviceaccount:${namespace}:reader`]);
    expect(user.extra["authentication.kubernetes.io/node-name"]).to.deep.equal([node.name]);
    expect((await world.nodes[0].host.run("stat", "-Lc", "%a", `${path}/token`)).trim()).to.equal("400");
    const status = JSON.stringify(world.objects.intentsOf("host-agent"));
    expect(status).not.to.contain(token.slice(0, 40));
  });

  it("changes within a second when the ConfigMap does, and the token stays as it is", async () => {
    const token = await read("token");
    const body = JSON.stringify({ data: { motd: "two" } });
    const { adminKubectl } = world.cluster;
    await adminKubectl.run(["patch", "configmap", "settings", "-n", namespace, "--type=merge", "-p", body]);
    const since = Date.now();
    await world.objects.until("the new content", 10_000, async () => (await read("motd")) === "two");
    console.log(`      after ${Date.now() - since} ms`);
    expect(await read("token")).to.equal(token);
  });

  it("an agent gets no token that is not bound to its own Node, nor one for more than a day", async () => {
    const { cluster, nodes } = world;
    const [own, other] = nodes;
    const agent = cluster.as(await cluster.token("nodevolume-agent", { kind: "Node", name: own.name, uid: own.uid }));
    const ask = (boundObjectRef?: object, life = {}) =>
      agent.call("POST", `/api/v1/namespaces/${namespace}/serviceaccounts/reader/token`, {
        body: {
          apiVersion: "authentication.k8s.io/v1",
          kind: "TokenRequest",
          spec: { audiences: ["vault"], ...(boundObjectRef && { boundObjectRef }), ...life },
        },
      });
    const bound = { apiVersion: "v1", kind: "Node" };
    const refusal = "an agent gets only tokens that are bound to its own Node";
    expectRefused(await ask(), refusal);
    expectRefused(await ask({ ...bound, name: other.name, uid: other.uid }), refusal);
    expectStatus(201, await ask({ ...bound, name: own.name }));
    const aDay = "an agent gets only tokens that are good for a day at most";
    expectRefused(await ask({ ...bound, name: own.name }, { expirationSeconds: 86_401 }), aDay);
    expectStatus(201, await ask({ ...bound, name: own.name }, { expirationSeconds: 86_400 }));
  });

  it("an agent reads its own Node as that node, and no other", async () => {
    const { cluster, nodes } = world;
    const [own, other] = nodes;
    const token = await cluster.token("nodevolume-agent", { kind: "Node", name: own.name, uid: own.uid });
    const get = async (name: string, ...as: string[]) =>
      (await cluster.kubectl.try([`--token=${token}`, ...as, "get", "node", name])).code === 0;
    const asNode = (name: string) => `--as=system:node:${name}`;
    expect(await get(own.name, asNode(own.name)), "its own").to.equal(true);
    expect(await get(other.name, asNode(own.name)), "another").to.equal(false);
    expect(await get(other.name, asNode(other.name)), "as another").to.equal(false);
    expect(await get(own.name), "as the agent").to.equal(false);
  });
});
