import { join } from "node:path";
import { expect } from "chai";
import type { JsonObject } from "../../hack/lib/api-client.ts";
import { type MatrixRow, readMatrix, type Verb } from "../../hack/lib/authorization-matrix.ts";
import { root } from "../../hack/lib/root.ts";
import { until } from "../../hack/lib/until.ts";
import { inspectOwnPolicies } from "../../src/agent/health/own-policy.ts";
import type { KubeClient } from "../../src/kube/client/client.ts";
import { inspectPolicies, noneAccepted, policyBindings, policySentence } from "../../src/kube/policies/policies.ts";
import { Questions } from "../lib/authorization/ask.ts";
import { questionOf, verdictOf } from "../lib/authorization/questions-of.ts";
import { type MatrixWorld, matrixWorld } from "../lib/authorization/world.ts";
import { type TestCluster, testCluster } from "../lib/cluster/cluster.ts";
import { letGuardGo } from "../lib/cluster/definitions-guard.ts";
import { paths } from "../lib/cluster/policy-world.ts";
import { withKubeClient } from "../lib/cluster/with-kube-client.ts";

describe("authorization matrix", function () {
  this.timeout(120_000);
  const matrix = readMatrix();
  let cluster: TestCluster;
  let world: MatrixWorld;
  let questions: Questions;

  before(async function () {
    cluster = await testCluster(this);
    world = await matrixWorld(cluster);
    questions = new Questions(cluster.controlPlane);
  });
  after(async () => {
    questions?.close();
    await world?.remove();
  });

  interface Cell {
    readonly row: MatrixRow;
    readonly who: string;
    readonly verb: Verb;
  }

  const cells = (rows: readonly MatrixRow[]): Cell[] =>
    rows.flatMap((row) =>
      [...matrix.identities.keys()].flatMap((who) => row.verbs.map((verb) => ({ row, who, verb }))),
    );

  /** Asks for all of them, a few at a time. @returns a line for each that is not as expected */
  async function ask(wanted: readonly Cell[], expected: (cell: Cell) => string): Promise<string[]> {
    const left = [...wanted];
    const differing: string[] = [];
    const worker = async () => {
      for (let cell = left.shift(); cell !== undefined; cell = left.shift()) {
        const { row, who, verb } = cell;
        const asker = world.askers.get(who);
        if (asker === undefined) throw new Error(`nobody is ${who}`);
        const verdict = verdictOf(verb, await questions.ask(asker, questionOf(row, verb, await objectOf(row))));
        const should = expected(cell);
        if (verdict !== should) {
          differing.push(
            `${row.group}${row.subresource ? `/${row.subresource}` : ""}, ${row.what}: ${who} ${verb}: ${verdict}, not ${should}`,
          );
        }
      }
    };
    await Promise.all(Array.from({ length: 12 }, worker));
    return differing.sort();
  }

  const objects = new Map<string, JsonObject>();
  async function objectOf({ path, name }: MatrixRow): Promise<JsonObject> {
    const at = `${path}/${name}`;
    const known = objects.get(at) ?? (await cluster.admin.call("GET", at)).body;
    objects.set(at, known);
    return known;
  }

  /** What the agent, and what the controller says is missing, each by its own look and with its own token. */
  async function notInForce(): Promise<(string | undefined)[]> {
    const looks = [
      ["agent-of-pod", (client: KubeClient) => inspectOwnPolicies(client, noneAccepted)],
      ["controller", (client: KubeClient) => inspectPolicies(client, policyBindings)],
    ] as const;
    return Promise.all(
      looks.map(async ([who, look]) => {
        const token = world.askers.get(who)?.token ?? "";
        return policySentence((await withKubeClient(cluster, token, look)).findings);
      }),
    );
  }

  const all = cells(matrix.rows);
  const byPolicy = all.filter(({ row, who, verb }) => !["allowed", "RBAC"].includes(row.verdict(who, verb)));
  const asSaid = ({ row, who, verb }: Cell) => row.verdict(who, verb);

  it(`${all.length} requests are answered as the matrix says`, async () => {
    expect((await ask(all, asSaid)).join("\n")).to.equal("");
  });

  it("every resource and verb of ours that the API server serves is asked for, and every version", async () => {
    const group = "/apis/nodevolume.dev";
    const { versions } = (await cluster.admin.call("GET", group)).body as unknown as {
      versions: { version: string }[];
    };
    for (const { version } of versions) {
      const { body } = await cluster.admin.call("GET", `${group}/${version}`);
      const { resources } = body as unknown as { resources: { name: string; verbs: Verb[] }[] };
      for (const { name, verbs } of resources) {
        const [plural, subresource] = name.split("/");
        const rows = matrix.rows.filter(
          (row) => row.path === `${group}/${version}/${plural}` && row.subresource === subresource,
        );
        expect(
          rows.flatMap((row) => row.verbs),
          `${version} ${name}`,
        ).to.include.members(verbs);
      }
    }
  });

  it("a token that was bound to a Node which was made anew is good for nothing", async () => {
    const answer = await questions.ask(world.goneWithItsNode, { method: "GET", path: paths.intents });
    expect(answer.status).to.equal(401);
  });

  it(`without the policies ${byPolicy.length} of them are allowed`, async () => {
    const { adminKubectl } = cluster;
    const bindings = (await adminKubectl.run(["get", "validatingadmissionpolicybindings", "-o", "name"])).split("\n");
    const ours = bindings.filter((name) => name.includes("/nodevolume-"));
    expect(ours).to.have.length.greaterThan(5);
    let differing: string[] = [];
    expect(await notInForce(), "as the agent and the controller find them").to.deep.equal([undefined, undefined]);
    try {
      await letGuardGo(adminKubectl);
      await adminKubectl.run(["delete", ...ours]);
      await until("the policies to be out of force", 20_000, async () => {
        differing = await ask(byPolicy, () => "allowed");
        return differing.length === 0;
      }).catch(() => expect(differing.join("\n")).to.equal(""));
      const [agents, controllers] = await notInForce();
      expect(agents).to.contain("nodevolume-agents does not refuse").and.contain("apply config/policy");
      for (const name of ours) expect(controllers).to.contain(name.split("/")[1]);
    } finally {
      await adminKubectl.run(["apply", "-k", join(root, "config/policy")]);
    }
    await until("the policies to be in force", 20_000, async () => (await ask(byPolicy, asSaid)).length === 0);
    expect(await notInForce()).to.deep.equal([undefined, undefined]);
  });
});
