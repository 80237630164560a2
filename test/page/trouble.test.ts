import { expect } from "chai";
import { troubledCluster, volumes } from "../../hack/lib/page/cluster.ts";
import { rawIntent, rawNode, waitingStatus } from "../../hack/lib/page/objects.ts";
import { inChromium, rowsIn } from "./opened.ts";

describe("the page, with a failing node, a volume that waits and an orphan", function () {
  this.timeout(60_000);
  const open = inChromium();
  const headline = "document.getElementById('head').textContent";

  it("says first what is wrong, where, why and since when", async () => {
    const { tab } = await open((real) => troubledCluster(real));
    expect(await tab.value(headline)).to.equal("scratch is blocked on worker-5 · worker-17 is unresponsive");
    expect(await tab.value("document.title")).to.equal("× scratch is blocked on worker-5 · worker-17 is unresponsive");
    const rows = await tab.value<string[][]>(rowsIn("troubles-table"));
    expect(rows.map(([state, node]) => `${state} ${node}`)).to.deep.equal([
      "× blocked worker-5",
      "? unknown worker-17",
      "… waiting worker-11",
      "◊ orphan worker-21",
    ]);
    expect(rows[0]?.[3]).to.match(/^ForeignMount \/mnt\/nodevolume\/scratch has a mount that is not ours/);
    expect(rows.map((row) => row[4])).to.satisfy((ages: string[]) => ages.every((age) => /^\d+[smhd]$/.test(age)));
    // All of it is seen without scrolling.
    const bottom = await tab.value<number>("document.getElementById('picture').getBoundingClientRect().bottom");
    expect(bottom).to.be.below(860);
    expect(tab.complaints).to.deep.equal([]);
  });

  it("paints what is wrong in its colour, at its node", async () => {
    const { tab } = await open((real) => troubledCluster(real));
    const colourAt = (line: number, node: number) =>
      tab.value<string>(`(() => {
        const canvas = document.querySelector("canvas");
        const step = canvas.width / 24;
        const [r, g, b] = canvas.getContext("2d").getImageData(${node} * step + 4, ${line} * 26 + 6, 1, 1).data;
        return "#" + [r, g, b].map((part) => part.toString(16).padStart(2, "0")).join("");
      })()`);
    const named = (name: string) =>
      tab.value<string>(`getComputedStyle(document.documentElement).getPropertyValue("--${name}").trim()`);
    expect(await colourAt(0, 4)).to.equal(await named("blocked"));
    expect(await colourAt(0, 5)).to.equal(await named("ready"));
    for (const line of [0, 1, 2, 3, 4, 5])
      expect(await colourAt(line, 16), `line ${line}`).to.equal(await named("unknown"));
    expect(await colourAt(6, 20)).to.equal(await named("orphan"));
    expect(await colourAt(6, 4)).to.equal(await named("nothing"));
  });

  it("says why on a click, and what has happened", async () => {
    const { tab } = await open((real) => troubledCluster(real));
    await tab.click("#troubles-table tr[data-key]");
    await tab.until("document.querySelectorAll('#panel .chain li').length === 2");
    const text = await tab.value<string>("document.getElementById('panel').innerText.replace(/\\s+/g, ' ')");
    expect(text).to.match(
      /scratch .*blocked.* because \/mnt\/nodevolume\/scratch has a mount that is not ours.* ForeignMount for 4m, 3 attempts/,
    );
    expect(text).to.match(/What to do\. Unmount it on worker-5 \(umount \/mnt\/nodevolume\/scratch\)/);
    expect(await tab.value("document.querySelectorAll('#panel .history li').length")).to.equal(3);
    expect(text).to.include("kubectl nvi explain worker-5/scratch");
    expect(await tab.value("location.hash")).to.equal("#volume/worker-5.scratch-9a8fb0fbcd");
    expect(tab.complaints).to.deep.equal([]);
  });

  it("is all had by the keyboard, and comes back to where one was", async () => {
    const { tab } = await open((real) => troubledCluster(real));
    const focused = "document.activeElement?.getAttribute('data-key') ?? document.activeElement?.id";
    await tab.press("/");
    expect(await tab.value(focused)).to.equal("filter");
    // Filter, four chips, then the table: one row of it.
    for (let at = 0; at < 5; at += 1) await tab.press("Tab");
    while (!String(await tab.value(focused)).startsWith("volume/")) await tab.press("Tab");
    expect(await tab.value(focused)).to.match(/^volume\/worker-5\//);
    await tab.press("ArrowDown");
    await tab.press("ArrowDown");
    expect(await tab.value(focused)).to.match(/^volume\/worker-11\//);
    await tab.press("Enter");
    await tab.until("document.activeElement?.id === 'panel-title'");
    expect(await tab.value("document.activeElement.textContent")).to.equal("datasets");
    await tab.press("Escape");
    await tab.until("document.getElementById('panel').hidden");
    expect(await tab.value(focused)).to.match(/^volume\/worker-11\//);
    await tab.press("End");
    await tab.press("Enter");
    await tab.until("document.querySelector('#panel h2')?.textContent === 'worker-21'");
    expect(await tab.value("document.getElementById('panel').innerText")).to.include("umount /mnt/nodevolume/archive");
  });

  it("shows what changes, without being loaded again", async () => {
    const { tab, cluster } = await open((real) => troubledCluster(real));
    await tab.until("document.getElementById('live').dataset.state === 'live'");
    await tab.value("window.loadedOnce = true");
    await tab.click("#troubles-table tr[data-key]");
    await tab.until("document.querySelectorAll('#panel .chain li').length === 2");
    const [datasets, scratch] = volumes;
    if (datasets === undefined || scratch === undefined) throw new Error("there are volumes");
    const now = Date.now();
    cluster.view.put("nodevolumeintents", rawIntent("worker-5", scratch, now));
    await tab.until("document.getElementById('head').textContent === 'worker-17 is unresponsive'");
    await tab.until("document.querySelector('#panel .pill').textContent.includes('as desired')");
    cluster.view.put("nodes", rawNode("worker-25"));
    const status = waitingStatus(now, 3, "SourceNotFound", "it is not there");
    cluster.view.put("nodevolumeintents", rawIntent("worker-25", datasets, now, status));
    await tab.until("document.getElementById('head').textContent.startsWith('datasets is blocked on worker-25')");
    expect((await tab.value<string[][]>(rowsIn("troubles-table")))[0]?.[0]).to.equal("× blocked new");
    expect(await tab.value("window.loadedOnce")).to.equal(true);
  });

  it("says that what it shows is old, while the API server is not heard, and that the controller is gone", async () => {
    const { tab, cluster, served } = await open((real) => troubledCluster(real));
    cluster.view.connected(false);
    await tab.until("!document.getElementById('stale').hidden");
    expect(await tab.value("document.getElementById('stale').textContent")).to.match(
      /API server does not answer since/,
    );
    cluster.view.connected(true);
    await tab.until("document.getElementById('stale').hidden");
    await served.stop();
    await tab.until("document.getElementById('live').dataset.state === 'lost'");
    expect(await tab.value(headline)).to.match(/^scratch is blocked/);
  });

  it("says the same to a screen reader", async () => {
    const { tab } = await open((real) => troubledCluster(real));
    const tree = await tab.accessible();
    const of = (role: string) => tree.filter((one) => one.role === role);
    const names = (role: string) => of(role).map(({ name }) => name);
    const said = of("status").filter(
      ({ properties }) => properties["live"] === "polite" && properties["atomic"] === true,
    );
    expect(said, "the headline, and what a filter comes to").to.have.length(2);
    const headlineSaid = "document.getElementById('head').closest('[role=status][aria-live=polite]') !== null";
    expect(await tab.value(headlineSaid)).to.equal(true);
    expect(names("heading")).to.have.members([
      "scratch is blocked on worker-5 · worker-17 is unresponsive",
      "What is wrong",
      "Nodes × volumes",
      "Nodes (24)",
    ]);
    expect(names("grid")).to.deep.equal(["What is wrong", "Nodes (24)"]);
    expect(names("columnheader")).to.deep.equal([
      "State",
      "Node",
      "Volume",
      "Why",
      "Since",
      "State",
      "Node",
      "As desired",
      "Not as desired",
    ]);
    expect(names("row").join("\n")).to.match(/blocked worker-5 scratch ForeignMount \/mnt/);
    expect(of("image").map(({ name }) => name)[0]).to.match(
      /^Picture of 7 lines by 24 nodes; 7 of the lines are not all as desired/,
    );
    expect(names("searchbox")).to.deep.equal(["Filter"]);
    expect(of("button").map(({ name, properties }) => [name, properties["pressed"]])).to.have.deep.members([
      ["Why is it stuck?", undefined],
      ["1 blocked", "false"],
      ["1 unknown", "false"],
      ["1 waiting", "false"],
      ["1 orphan", "false"],
    ]);
    expect(names("main")).to.have.length(1);
    // Nothing that can be reached is without a name.
    const reached = tree.filter(({ role, properties }) => properties["focusable"] === true && role !== "RootWebArea");
    expect(reached.filter(({ name, role }) => name === "" && role !== "generic")).to.deep.equal([]);
  });
});
