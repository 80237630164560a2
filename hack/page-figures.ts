// What the page and its search cost with 5,000 nodes and twenty volumes each: node --expose-gc hack/page-figures.ts
import { gzipSync } from "node:zlib";
import type { Search } from "../src/controller/page/find.ts";
import { createPage } from "../src/controller/page/page.ts";
import { realSystem } from "../src/system.ts";
import { manySets, wellCluster } from "./lib/page/cluster.ts";
import { rawIntent, rawState, waitingStatus } from "./lib/page/objects.ts";
import { silent } from "./lib/silent-log.ts";

const heap = () => {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / 2 ** 20;
};
const nodes = 5_000;
const cluster = wellCluster(realSystem(silent), nodes, manySets(20));
const { view, system } = cluster;
const before = heap();
const page = createPage({ system, view, version: "0" });

async function measure(what: string, make = async () => (await page.overview()).text): Promise<void> {
  const cpu = process.cpuUsage();
  const began = performance.now();
  const text = await make();
  const ms = performance.now() - began;
  const { user, system: kernel } = process.cpuUsage(cpu);
  const sizes = `${(text.length / 1024).toFixed(0)} KiB, ${(gzipSync(text, { level: 1 }).length / 1024).toFixed(0)} KiB packed`;
  console.log(`${what}: ${ms.toFixed(0)} ms, ${((user + kernel) / 1_000).toFixed(0)} ms of processor; ${sizes}`);
}
const search = (query: Search) => async () => JSON.stringify(await page.find(query));

await measure("all is well");
await measure("a search by words", search({ words: ["worker-4999", "share-7"] }));
await measure("a search by names of a text", search({ names: ["worker-4999", "share-7", "web-0", "pvc-1"] }));
console.log(`kept for it: ${(heap() - before).toFixed(1)} MiB`);
const now = Date.now();
for (const node of cluster.nodes.slice(0, 500))
  for (const volume of cluster.volumes)
    view.put(
      "nodevolumeintents",
      rawIntent(node, volume, now, waitingStatus(now, 60, "ServerUnreachable", "it does not answer")),
    );
await new Promise((resolve) => system.timers.after(20_000, () => resolve(undefined)));
await measure("one node in ten is ill, with all of its volumes");
const orphan = {
  path: "/var/lib/nodevolume/mounts/a/rather/long/path/of/a/mount",
  reason: "UnexplainedRemoval",
  since: "2026-11-25T12:00:00Z",
};
const without = heap();
for (const node of cluster.nodes)
  view.put(
    "nodevolumestates",
    rawState(
      node,
      [1, 2, 3, 4, 5].map((at) => ({ ...orphan, path: `${orphan.path}-${at}` })),
    ),
  );
console.log(
  `with five orphans on each node: ${(heap() - without).toFixed(1)} MiB more, with the made-up objects themselves`,
);
page.stop();
