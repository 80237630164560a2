// Takes the pictures of docs/page.md: node hack/page-pictures.ts [--out FOLDER]
import { mkdirSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import { realSystem } from "../src/system.ts";
import { startBrowser, type View } from "./lib/browser/browser.ts";
import type { Tab } from "./lib/browser/tab.ts";
import { largeCluster, troubledCluster } from "./lib/page/cluster.ts";
import { servePage } from "./lib/page/serve.ts";
import { smallPng } from "./lib/page/small-png.ts";
import { root } from "./lib/root.ts";
import { silent } from "./lib/silent-log.ts";
import { locateChromium } from "./lib/tools/chromium.ts";

const { values } = parseArgs({ options: { out: { type: "string" } } });
const out = values.out ?? join(root, "docs/img");

const chromium = await locateChromium({ env: process.env, report: (line) => console.log(line) });
if ("missing" in chromium) throw new Error(chromium.missing);
const browser = await startBrowser(chromium);
mkdirSync(out, { recursive: true });
const system = realSystem(silent);

interface Picture extends View {
  readonly name: string;
  /** What is selected. */
  readonly hash?: string;
  /** What is pasted into "Why is it stuck?". */
  readonly stuck?: string;
}

const failedMount =
  'Warning  FailedMount  kubelet  MountVolume.SetUp failed for volume "data" on worker-5 : rpc error: code = FailedPrecondition ' +
  "desc = ForeignMount: /mnt/nodevolume/scratch has a mount that is not ours: unmount it, or set adopt: IfSame";

async function save(name: string, picture: Buffer): Promise<void> {
  const png = smallPng(picture);
  const path = join(out, `${name}.png`);
  writeFileSync(path, png);
  console.log(`${relative(root, path)}: ${(png.length / 1024).toFixed(0)} KiB`);
}

async function paste(tab: Tab, text: string): Promise<void> {
  await tab.type(text);
  await tab.until("document.querySelectorAll('#why-answers .answer').length > 0");
}

async function take(url: string, { name, hash = "", stuck, ...view }: Picture): Promise<void> {
  const tab = await browser.open(`${url}${hash}`, view);
  await tab.until("document.querySelectorAll('main tbody tr[data-key]').length > 0");
  if (hash !== "") await tab.until("!document.getElementById('panel').hidden");
  await tab.until("document.getElementById('live').dataset.state === 'live'");
  if (stuck !== undefined) {
    await tab.press("?");
    await paste(tab, stuck);
    await tab.until("document.querySelectorAll('#why-known li').length > 0");
  }
  await save(name, await tab.picture());
  await tab.close();
}

try {
  const troubled = await servePage(troubledCluster(system));
  await take(troubled.url, { name: "page", height: 900 });
  await take(troubled.url, { name: "page-why", hash: "#volume/worker-5.scratch-9a8fb0fbcd", height: 900 });
  await take(troubled.url, { name: "page-dark", hash: "#node/worker-21", height: 900, dark: true });
  await take(troubled.url, { name: "page-stuck", stuck: failedMount, height: 900 });
  await troubled.stop();
  const large = await servePage(largeCluster(system));
  await take(large.url, { name: "page-large", height: 900 });
  await large.stop();
} finally {
  await browser.close();
}
