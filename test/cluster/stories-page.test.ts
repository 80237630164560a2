import { readFileSync } from "node:fs";
import { expect } from "chai";
import type { RunningProcess } from "../../hack/lib/process.ts";
import type { NodeVolumeIntent } from "../../src/api/types.gen.ts";
import type { NodeDetails, VolumeDetails } from "../../src/controller/page/details.ts";
import type { Overview } from "../../src/controller/page/overview.ts";
import { testWorld, type World } from "../lib/cluster/world.ts";

describe("the page of a controller, also of one that does not lead", () => {
  let world: World;
  let standby: RunningProcess;
  let url: string;
  before(async function () {
    world = await testWorld(this);
    standby = await world.startController("controller-page", ["--page-address", "127.0.0.1:0"]);
    const served = /"message":"serving the page".*/;
    const line = () => served.exec(readFileSync(standby.logFile, "utf8"))?.[0];
    await world.objects.until("the page to be served", 30_000, () => line() !== undefined);
    url = `http://127.0.0.1:${/"port":(\d+)/.exec(line() ?? "")?.[1]}/`;
  });
  after(async () => {
    await standby?.stop();
    await world?.remove("paged", "paged-not");
  });

  const get = async <T>(path: string) => (await (await fetch(`${url}api/${path}`)).json()) as T;
  const intents = async (set: string) => {
    const json = await world.cluster.kubectl.run(["get", "nvi", "-l", `set.nodevolume.dev/${set}`, "-o", "json"]);
    return (JSON.parse(json) as { items: NodeVolumeIntent[] }).items;
  };

  it("is there, out of the bundle", async () => {
    const page = await fetch(url);
    expect([page.status, page.headers.get("content-type")]).to.deep.equal([200, "text/html; charset=utf-8"]);
    expect(await page.text()).to.include("<title>Node volumes</title>");
    expect((await fetch(`${url}page.js`)).headers.get("content-type")).to.equal("text/javascript; charset=utf-8");
  });

  it("says what kubectl says: what is mounted, and what waits for what, on which node", async () => {
    const mounts = (name: string) => [{ name: "host", path: `/mnt/nodevolume/${name}` }];
    await world.apply("paged", {
      volume: { source: { emptyDir: { medium: "Memory", sizeLimit: "1Mi" } } },
      mounts: mounts("paged"),
    });
    const missing = { hostPath: { path: "/data/not-there", type: "Directory" } };
    await world.apply("paged-not", { volume: { source: missing }, mounts: mounts("paged-not") });
    await world.objects.ready("paged", 3, 60_000);
    await world.objects.until("SourceNotFound on each node", 60_000, () => {
      const found = world.objects.intentsOf("paged-not");
      return found.length === 3 && found.every(({ status }) => status?.waiting?.reason === "SourceNotFound");
    });
    let overview: Overview | undefined;
    const ofSet = (name: string) => overview?.troubles.filter(({ sets }) => sets.includes(name)) ?? [];
    await world.objects.until("the page to say so", 20_000, async () => {
      overview = await get<Overview>("overview");
      const row = overview.rows.find(({ name }) => name === "paged");
      return row?.ready === 3 && ofSet("paged").length === 0 && ofSet("paged-not").length === 3;
    });
    const said = ofSet("paged-not").map(({ node, name, reason, since }) => [
      overview?.nodes[node ?? -1],
      name,
      reason,
      since,
    ]);
    const wanted = (await intents("paged-not")).map(({ metadata, spec, status }) => [
      ...[spec.nodeName, metadata.name, status.waiting?.reason, status.waiting?.since],
    ]);
    expect(said.sort()).to.deep.equal(wanted.sort());
    expect(ofSet("paged-not").every(({ state }) => state === "blocked")).to.equal(true);
  });

  it("says of a node what its NodeVolumeState has, read when somebody looks", async () => {
    const [intent] = await intents("paged-not");
    const found = await get<NodeDetails>(`nodes/${intent?.spec.nodeName}`);
    expect(found.notRead).to.equal(undefined);
  });

  it("says why a volume waits as kubectl nvi does, and what has happened to it", async () => {
    const [intent] = await intents("paged-not");
    const found = await get<VolumeDetails>(`volumes/${intent?.metadata.name}`);
    expect(found.notRead).to.equal(undefined);
    expect(found.chain.map(({ code }) => code)).to.include("SourceNotFound");
    expect(found.chain.find(({ code }) => code === "SourceNotFound")?.todo).to.match(/\w/);
    const history = (intent?.status.history ?? []).map(({ time, state }) => `${time} ${state}`);
    expect(found.history.map(({ time, state }) => `${time} ${state}`).reverse()).to.deep.equal(history);
  });
});
