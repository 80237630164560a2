import { type Browser, startBrowser, type View } from "../../hack/lib/browser/browser.ts";
import type { Tab } from "../../hack/lib/browser/tab.ts";
import { skipBecause } from "../../hack/lib/lanes/skip-reason.ts";
import type { Cluster } from "../../hack/lib/page/cluster.ts";
import { type Served, servePage } from "../../hack/lib/page/serve.ts";
import { silent } from "../../hack/lib/silent-log.ts";
import { locateChromium } from "../../hack/lib/tools/chromium.ts";
import type { System } from "../../src/ports.ts";
import { realSystem } from "../../src/system.ts";

/** A page in Chromium, of a made-up cluster; all of it goes with the test. */
export interface Opened {
  readonly tab: Tab;
  readonly cluster: Cluster;
  readonly served: Served;
}

/** For a suite: its browser is started once, and skipped by name where there is none. */
export function inChromium() {
  let browser: Browser | undefined;
  const open: (() => Promise<unknown>)[] = [];

  before(async function () {
    this.timeout(300_000); // of a download, once
    const found = await locateChromium({ env: process.env, report: (line) => console.log(`      ${line}`) });
    if ("missing" in found) skipBecause(this, found.missing);
    browser = await startBrowser(found);
  });
  afterEach(async () => {
    for (const close of open.splice(0).reverse()) await close();
  });
  after(() => browser?.close());

  /** Any address, such as that of a file. */
  const at = async (url: string, view?: View): Promise<Tab> => {
    if (browser === undefined) throw new Error("there is no browser");
    const tab = await browser.open(url, view);
    open.push(() => tab.close());
    return tab;
  };
  const page = async <C extends Cluster>(
    make: (system: System) => C,
    view?: View,
  ): Promise<Opened & { cluster: C }> => {
    const cluster = make(realSystem(silent));
    const served = await servePage(cluster);
    open.push(() => served.stop());
    const tab = await at(served.url, view);
    await tab.until("document.querySelectorAll('#nodes-table tr[data-key]').length > 0", 30);
    return { tab, cluster, served };
  };
  return Object.assign(page, { at });
}

/** Texts of the rows that are in the document. */
export const rowsIn = (place: string) =>
  `[...document.querySelectorAll('#${place} tr[data-key]')].map((row) => [...row.cells].map((cell) => cell.innerText.replace(/\\s+/g, " ").trim()))`;
