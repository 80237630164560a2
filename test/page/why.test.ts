import { pathToFileURL } from "node:url";
import { expect } from "chai";
import type { Tab } from "../../hack/lib/browser/tab.ts";
import { troubledCluster, volumes, wellCluster } from "../../hack/lib/page/cluster.ts";
import { rawIntent } from "../../hack/lib/page/objects.ts";
import { buildWhyPage } from "../../hack/lib/why-page.ts";
import type { System } from "../../src/ports.ts";
import { inChromium, rowsIn } from "./opened.ts";

const answers = "[...document.querySelectorAll('#why-answers .answer')].map((one) => one.dataset.answer)";
const textOf = (id: string) => `document.getElementById('${id}').innerText.replace(/\\s+/g, " ").trim()`;

/** A message as kubelet writes it, with names of the cluster, and with markup that nobody must obey. */
const message =
  'Warning FailedMount kubelet MountVolume.SetUp failed for volume "scratch" on worker-5: rpc error: code = FailedPrecondition desc = ' +
  'ForeignMount: /mnt/nodevolume/scratch has a mount <img src=x onerror="window.obeyed = true"><b id=bold>that is not ours</b>';

async function paste(tab: Tab, text: string): Promise<void> {
  await tab.value("(() => { const box = document.getElementById('why-text'); box.focus(); box.select(); })()");
  await tab.type(text);
}

describe("why is it stuck, in the page", function () {
  this.timeout(60_000);
  const open = inChromium();

  it("answers a pasted message, links what the page knows of it, and goes there", async () => {
    const { tab } = await open((real) => troubledCluster(real));
    await tab.press("?");
    await tab.until("document.activeElement.id === 'why-text'");
    await tab.until(`${textOf("why-summary")}.includes('reasons and')`);
    await tab.type(message);
    await tab.until(`${answers}[0] === 'ForeignMount'`);
    await tab.until("document.querySelectorAll('#why-known li').length >= 2");
    const known = await tab.value<string>(textOf("why-known"));
    expect(known).to.match(/^node worker-5 × blocked volume scratch on worker-5 ForeignMount/);
    const answer = await tab.value<string>(textOf("why-answers"));
    expect(answer).to.match(/^ForeignMount × blocked Blocked, until the foreign mount is unmounted/);
    expect(answer).to.match(/What to do\. Unmount it on NODE \(umount PATH\)/);
    await tab.click("#why-known a[href^='#volume/']");
    await tab.until("document.querySelector('#panel h2')?.textContent === 'scratch'");
    expect(await tab.value("location.hash")).to.equal("#volume/worker-5.scratch-9a8fb0fbcd");
    expect(await tab.value("document.getElementById('why-text').value.length")).to.equal(message.length);
    expect(tab.complaints).to.deep.equal([]);
  });

  it("takes what is pasted for text alone", async () => {
    const { tab } = await open((real) => troubledCluster(real));
    await tab.click("#why-open");
    await paste(tab, message);
    await tab.until(`${answers}.length > 0`);
    await tab.until("document.querySelectorAll('#why-known li').length > 0");
    expect(await tab.value("document.querySelectorAll('#why img, #bold').length")).to.equal(0);
    expect(await tab.value("window.obeyed === undefined")).to.equal(true);
    expect(tab.complaints).to.deep.equal([]);
  });

  it("goes on to the entry of a reason, says when nothing fits, and is closed by Escape", async () => {
    const { tab } = await open((real) => wellCluster(real, 3));
    await tab.click("#why-open");
    await paste(tab, "mount.nfs: access denied by server while mounting nas:/x");
    await tab.until(`${answers}[0] === 'nfs-denied'`);
    await tab.click("#why-answers [data-why]");
    await tab.until(`${answers}.join() === 'CredentialsRefused'`);
    await paste(tab, "qwertz");
    await tab.until(`${textOf("why-summary")}.startsWith('Nothing fits')`);
    expect(await tab.value(`${answers}.length`)).to.equal(0);
    await tab.press("Escape");
    await tab.until("document.getElementById('why').hidden");
    expect(await tab.value("document.activeElement.id")).to.equal("why-open");
    expect(await tab.value("document.getElementById('why-open').getAttribute('aria-expanded')")).to.equal("false");
  });

  it("has a name for all of it in the accessibility tree", async () => {
    const { tab } = await open((real) => troubledCluster(real));
    await tab.press("?");
    await tab.type(message);
    await tab.until(`${answers}.length > 0`);
    await tab.until("document.querySelectorAll('#why-known li').length > 0");
    const tree = await tab.accessible();
    const names = (role: string) => tree.filter((one) => one.role === role).map(({ name }) => name);
    expect(names("textbox")).to.deep.equal(["A message of kubectl describe pod, an Event, or a reason"]);
    expect(names("list")).to.include.members(["What the text names", "Causes"]);
    expect(names("heading")).to.include.members(["Why is it stuck?"]);
    const reached = tree.filter(({ role, properties }) => properties["focusable"] === true && role !== "RootWebArea");
    expect(reached.filter(({ name, role }) => name === "" && role !== "generic")).to.deep.equal([]);
  });

  for (const width of [390, 700])
    it(`fits a window that is ${width} wide`, async () => {
      const { tab } = await open((real) => troubledCluster(real), { width, height: 800 });
      await tab.click("#why-open");
      await paste(tab, message);
      await tab.until(`${answers}.length > 0`);
      expect(await tab.value("document.documentElement.scrollWidth")).to.be.at.most(width);
    });
});

describe("the filter of the page", function () {
  this.timeout(60_000);
  const open = inChromium();

  /** One pod has two volumes, and one volume is a claim's; all of them are well. */
  function withUsers(real: System) {
    const cluster = wellCluster(real, 12);
    const [datasets, scratch] = volumes;
    if (datasets === undefined || scratch === undefined) throw new Error("there are volumes");
    const now = real.clock.now();
    const pods = [{ uid: "0f1e", namespace: "shop", name: "web-0", volume: "data" }];
    const put = (node: string, volume: typeof datasets, more: object) => {
      const { spec, ...raw } = rawIntent(node, volume, now);
      cluster.view.put("nodevolumeintents", { ...raw, spec: { ...(spec as object), ...more } });
    };
    put("worker-3", datasets, { pods });
    put("worker-3", scratch, { pods });
    const source = { persistentVolumeClaim: { namespace: "team-a", claimName: "results" } };
    put("worker-4", { set: "results", type: "csi", source }, {});
    return cluster;
  }
  const found = `${rowsIn("found-table")}.map((cells) => cells.join(' | '))`;

  it("finds the volumes of a pod and of a claim, also those that are as desired", async () => {
    const { tab } = await open(withUsers);
    await tab.press("/");
    await tab.type("shop/web-0");
    await tab.until(`${found}.length === 2`);
    expect(await tab.value<string[]>(found)).to.have.members([
      "✓ as desired | worker-3 | datasets | pod shop/web-0",
      "✓ as desired | worker-3 | scratch | pod shop/web-0",
    ]);
    expect(await tab.value(textOf("found-title"))).to.equal("Volumes (2)");
    await tab.value("document.getElementById('filter').select()");
    await tab.type("team-a/results");
    await tab.until(`${found}.length === 1`);
    expect(await tab.value(found)).to.deep.equal(["✓ as desired | worker-4 | results | claim team-a/results"]);
    await tab.click("#found-table tr[data-key]");
    await tab.until("document.querySelector('#panel h2')?.textContent === 'results'");
    await tab.press("Escape");
    await tab.until("document.getElementById('panel').hidden");
    expect(await tab.value("document.activeElement.closest('#found-table') !== null")).to.equal(true);
    expect(tab.complaints).to.deep.equal([]);
  });

  it("shows no volumes when there is no filter, and says that none fits", async () => {
    const { tab } = await open(withUsers);
    expect(await tab.value("document.getElementById('found').hidden")).to.equal(true);
    await tab.press("/");
    await tab.type("nobody-has-this");
    await tab.until("!document.getElementById('found').hidden");
    expect(await tab.value(textOf("found"))).to.equal("Volumes (0) No volume fits the filter.");
    await tab.value(
      "document.getElementById('filter').value = ''; document.getElementById('filter').dispatchEvent(new Event('input'))",
    );
    await tab.until("document.getElementById('found').hidden");
  });
});

describe("why.html, from a file", function () {
  this.timeout(60_000);
  const open = inChromium();
  let url: string;
  before(async () => {
    url = pathToFileURL(await buildWhyPage()).href;
  });

  it("answers as the page does, without a server", async () => {
    const tab = await open.at(url);
    await tab.until(`${textOf("why-summary")}.includes('reasons and')`);
    expect(await tab.value("document.querySelectorAll('#why-codes li').length")).to.be.greaterThan(140);
    await paste(tab, message);
    await tab.until(`${answers}[0] === 'ForeignMount'`);
    expect(await tab.value("document.querySelectorAll('img, #bold').length")).to.equal(0);
    expect(await tab.value("performance.getEntriesByType('resource').length")).to.equal(0);
    expect(tab.complaints).to.deep.equal([]);
  });

  it("has an address for each reason and each known message", async () => {
    const tab = await open.at(`${url}#SourceNotFound`);
    await tab.until(`${answers}.join() === 'SourceNotFound'`);
    await tab.value("location.hash = '#multi-attach'");
    await tab.until(`${answers}.join() === 'multi-attach'`);
    await tab.click("#why-answers [data-why]");
    await tab.until(`${answers}.join() === 'VolumeHeldElsewhere'`);
    await tab.value("location.hash = '#%22%3E%3Cimg src=x%3E'");
    await tab.until(`${textOf("why-summary")}.includes('reasons and')`);
    expect(await tab.value("document.querySelectorAll('img').length")).to.equal(0);
  });

  it("fits a narrow window, and a dark one", async () => {
    const tab = await open.at(`${url}#AgentLost`, { width: 390, height: 800, dark: true });
    await tab.until(`${answers}.length === 1`);
    expect(await tab.value("document.documentElement.scrollWidth")).to.be.at.most(390);
    expect(await tab.value("getComputedStyle(document.body).backgroundColor")).to.equal("rgb(17, 21, 27)");
  });
});
