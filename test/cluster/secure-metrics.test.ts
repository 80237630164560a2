import { readFileSync } from "node:fs";
import * as https from "node:https";
import { join } from "node:path";
import { expect } from "chai";
import { agentIdentity, requestToken } from "../../hack/lib/control-plane/identities.ts";
import type { RunningProcess } from "../../hack/lib/process.ts";
import { startApiProxy } from "../../hack/lib/roles.ts";
import { root } from "../../hack/lib/root.ts";
import { until } from "../../hack/lib/until.ts";
import { testWorld, type World } from "../lib/cluster/world.ts";

const roles = join(root, "config/components/secure-metrics/roles.yaml");
const secure = ["--secure-metrics", "true"];

describe("metrics with config/components/secure-metrics", () => {
  let world: World;
  const running: RunningProcess[] = [];
  const tokens = { reader: "", stranger: "" };

  before(async function () {
    world = await testWorld(this);
    const { cluster } = world;
    await cluster.adminKubectl.run(["apply", "-f", roles]);
    tokens.reader = await cluster.token("nodevolume-metrics-reader");
    tokens.stranger = await cluster.token("nodevolume-agent");
  });
  after(async () => {
    for (const one of running) {
      one.kill("SIGTERM");
      await one.ended;
    }
    await world?.cluster.adminKubectl.run(["delete", "--ignore-not-found", "-f", roles]);
  });

  /** A candidate that does not lead serves metrics, too. */
  const controller = (flags: readonly string[] = []) =>
    world.startController(`controller-secure-${flags.length}`, [...secure, ...flags]);
  async function proxy(): Promise<RunningProcess> {
    const [node] = world.nodes;
    const { controlPlane, directory } = world.cluster;
    const identity = await agentIdentity(controlPlane, node, join(directory, "agents", "secure"));
    const logFile = join(directory, "logs", "secure-api-proxy.log");
    return startApiProxy(node.name, {
      server: controlPlane.server,
      identity,
      logFile,
      env: process.env,
      flags: secure,
    });
  }

  async function portOf(process: RunningProcess): Promise<string | undefined> {
    running.push(process);
    let port: string | undefined;
    await until("it to serve metrics", 60_000, () => {
      port = /"serving metrics and health".*"port":(\d+)/.exec(readFileSync(process.logFile, "utf8"))?.[1];
      return port !== undefined;
    });
    return port;
  }

  for (const [of, start] of [
    ["controller", () => controller()],
    ["api-proxy, which serves the agent's", proxy],
  ] as const) {
    it(`are for who may get them alone, and say nothing to others, of the ${of}`, async () => {
      const port = await portOf(await start());
      expect((await get(port, "/metrics")).status).to.equal(401);
      expect((await get(port, "/metrics", "made-up")).status).to.equal(401);
      const refused = await get(port, "/metrics", tokens.stranger);
      expect([refused.status, refused.body]).to.deep.equal([
        403,
        "the token's user may not get /metrics: bind the ClusterRole nodevolume-metrics-reader\n",
      ]);
      const shown = await get(port, "/metrics", tokens.reader);
      expect(shown.status).to.equal(200);
      expect(shown.body).to.match(/^nodevolume_/m);
      expect((await get(port, "/healthz")).body).to.match(/^(not )?ok\n$/);
    });
  }

  it("are with an audience for tokens of that alone, which are good for nothing else", async () => {
    const { admin } = world.cluster;
    const port = await portOf(await controller(["--metrics-token-audience", "nodevolume-metrics"]));
    const token = await requestToken(admin, "nodevolume-metrics-reader", undefined, undefined, ["nodevolume-metrics"]);
    expect((await get(port, "/metrics", token)).status).to.equal(200);
    expect((await get(port, "/metrics", tokens.reader)).status, "of the API server").to.equal(401);
    const metrics = async (shown: string) => (await world.cluster.as(shown).call("GET", "/metrics")).status;
    expect(await metrics(token), "to the API server").to.equal(401);
    expect(await metrics(tokens.reader), "what another one gives away").to.equal(200);
  });
});

function get(port: string | undefined, path: string, token?: string): Promise<{ status: number; body: string }> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  // As a scraper does: nobody has signed the certificate.
  const options = { host: "127.0.0.1", port, path, headers, agent: false, rejectUnauthorized: false };
  return new Promise((resolve, reject) => {
    const request = https.get(options, async (answer) => {
      let body = "";
      for await (const text of answer.setEncoding("utf8")) body += text;
      resolve({ status: answer.statusCode ?? 0, body });
    });
    request.on("error", reject);
  });
}
