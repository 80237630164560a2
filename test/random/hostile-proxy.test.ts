import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { intent } from "../../hack/lib/agent-on-kernel/intent.ts";
import type { JsonObject } from "../../hack/lib/api-client.ts";
import { slow } from "../../hack/lib/lanes/slow.ts";
import { layout, type PretendHost, startPretendHost } from "../../hack/lib/pretend-node/node.ts";
import { type RunningProcess, tailOf } from "../../hack/lib/process.ts";
import { startAgent } from "../../hack/lib/roles.ts";
import { until } from "../../hack/lib/until.ts";
import { HostileProxy } from "../lib/api-proxy/hostile-proxy.ts";
import { full, need } from "../lib/asserts/requirements.ts";
import { bundles } from "../lib/cluster/bundles.ts";
import { mutatedBytes } from "../lib/mutate/mutated-bytes.ts";
import { mutatedJson } from "../lib/mutate/mutated-json.ts";
import { SeededRandom } from "../sim/random.ts";

const node = "node-7";
const memory = { emptyDir: { medium: "Memory" as const, sizeLimit: "1Mi" } };

/** As JSON: some of it no intent could have. */
function wanted(name: string, path: string, nodeName = node): JsonObject {
  const made = intent({ name, uid: `uid of ${name}`, source: memory, mounts: [{ path: "/mnt/nodevolume/x" }] });
  const mounts = made.spec.mounts.map((mount) => ({ ...mount, path }));
  return { ...made, spec: { ...made.spec, nodeName, mounts } } as unknown as JsonObject;
}

const places = ["/etc/taken", "/taken", "/mnt/taken", "/mnt/nodevolume-taken/a", "/mnt/nodevolume/../taken"];
const more = [
  ...places,
  "/mnt/nodevolume/./a",
  "//mnt/nodevolume/a",
  "/mnt/nodevolume/link/taken",
  `${layout.stateDir}/taken`,
  "relative",
  "",
];

describe("an agent whose API proxy was taken over", function () {
  this.timeout(full() ? 900_000 : 180_000);
  const proxy = new HostileProxy();
  let host: PretendHost;
  let agent: RunningProcess;
  let atFirst: readonly string[];
  const points = async () => (await host.mounts()).map((line) => line.split(" ")[4] ?? "");
  const isMounted = async (path: string) => (await points()).includes(path);
  const shows = (path: string) =>
    until(`${path} to be mounted`, 30_000, () => isMounted(path)).catch((error: Error) => {
      throw new Error(`${error.message}\n${tailOf(agent.logFile, 10).join("\n")}`);
    });

  /** What is mounted since the agent runs lies where it may mount. */
  async function nothingElsewhere(): Promise<void> {
    const own = [`${layout.prefix}/`, `${layout.stateDir}/`, `${layout.kubeletDir}/`];
    const since = (await points()).filter((path) => !atFirst.includes(path));
    expect(since.filter((path) => !own.some((prefix) => path.startsWith(prefix)))).to.deep.equal([]);
    expect(agent.ending()).to.equal(undefined);
  }

  before(async function () {
    need(this, "root");
    await bundles();
    host = await startPretendHost(node);
    await host.run("ln", "-s", "/etc", "/mnt/nodevolume/link");
    mkdirSync(join(proxy.directory, "logs"));
    atFirst = await points();
    const others = [
      wanted("node-8.other-0123456789", "/mnt/nodevolume/others", "node-8"),
      { ...wanted("a", "/mnt/nodevolume/none"), spec: {} },
    ];
    proxy.all = [
      ...others,
      ...more.map((path, i) => wanted(`${node}.bad-${i}-0123456789`, path)),
      wanted("good", "/mnt/nodevolume/good"),
    ];
    await proxy.start();
    const logFile = join(proxy.directory, "logs", "agent.log");
    const identity = { caFile: "", tokenFile: "" };
    agent = startAgent(host, { server: `unix://${proxy.socket}`, identity, logFile, env: process.env });
  });
  after(async () => {
    await agent?.stop();
    await host?.stop();
    await proxy[Symbol.asyncDispose]();
  });

  it("mounts what is its own and beneath its prefixes, of all that it is handed", async () => {
    await shows("/mnt/nodevolume/good");
    proxy.show("ADDED", wanted("later", "/mnt/nodevolume/later"));
    await shows("/mnt/nodevolume/later");
    await nothingElsewhere();
    for (const path of ["/mnt/nodevolume/others", "/mnt/nodevolume/none", "/etc/taken"])
      expect(await isMounted(path), path).to.equal(false);
  });

  it("keeps what is mounted when it is told that it is gone, is another node's, or is nothing", async () => {
    proxy.show("DELETED", wanted("good", "/mnt/nodevolume/good"));
    proxy.show("MODIFIED", wanted("later", "/mnt/nodevolume/later", "node-8"));
    proxy.show("ADDED", wanted("third", "/mnt/nodevolume/third"));
    await shows("/mnt/nodevolume/third");
    for (const name of ["good", "later"]) expect(await isMounted(`/mnt/nodevolume/${name}`), name).to.equal(true);
  });

  slow("lives through objects and bytes of any kind, and goes on", async () => {
    const seed = Number(process.env["NODEVOLUME_HOSTILE_SEED"] || Math.floor(Math.random() * 0x1_0000_0000));
    console.log(`      seed ${seed}`);
    const random = new SeededRandom(seed, "hostile proxy");
    const kinds = [
      wanted("good", "/mnt/nodevolume/good"),
      wanted("m", "/mnt/nodevolume/m"),
      wanted("n", "/mnt/nodevolume/n/o"),
    ];
    const objectOf = () => mutatedJson(random.pick(kinds), kinds, random);
    proxy.reply = () => {
      const body = JSON.stringify(objectOf() ?? null);
      return {
        status: random.pick([200, 200, 201, 301, 400, 403, 404, 409, 410, 422, 500, 503]),
        body: random.chance(0.5)
          ? body
          : mutatedBytes(Buffer.from(body), [Buffer.from(body)], random).toString("latin1"),
      };
    };
    const rounds = full() ? 40 : 6;
    for (let round = 0; round < rounds; round++) {
      const { watches } = proxy;
      for (let i = 0; i < 200; i++) proxy.show(random.pick(["ADDED", "MODIFIED", "DELETED"]), objectOf());
      const line = `${JSON.stringify({ type: "ADDED", object: objectOf() })}\n`;
      proxy.write(
        random.chance(0.2) ? "x".repeat(9 * 1024 * 1024) : mutatedBytes(Buffer.from(line), [Buffer.from(line)], random),
      );
      proxy.end();
      await until("the agent to watch again", 30_000, () => proxy.watches > watches || agent.ending() !== undefined);
      await nothingElsewhere();
    }
    // One that is asked for what is mounted beneath its prefix itself holds up all others: so they all go.
    const last = `/mnt/nodevolume/last-${rounds}`;
    proxy.all = [wanted("last", last)];
    proxy.show("ERROR", { kind: "Status", code: 410, reason: "Expired" });
    await shows(last);
    await nothingElsewhere();
  });
});
