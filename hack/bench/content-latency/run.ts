// The rounds: one change for both sides at once, at a moment of kubelet's minute that chance has, and more for ours
// alone.
import { cpSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { messageOf } from "../../../src/errors.ts";
import { startWorld, type World } from "../lib/node-world.ts";
import type { OnceInput } from "../lib/once.ts";
import type { Result } from "../lib/result.ts";
import { meterNoise } from "../report/noise.ts";
import { type Measure, rowsOf, type Sample } from "../report/row.ts";
import { change, fileOf, type Kind, kinds, type Name, seenIn, showContent } from "./objects.ts";

/** How many times sooner than kubelet: a second beside a minute. */
const wanted = 60;
/** Changes that only ours shows, for each that both do. */
const oursAlone = 10;
/** Milliseconds: kubelet looks at a pod again after one to one and a half minutes. */
const patience = 180_000;
const minute = 60_000;

const titles = { configMap: "a ConfigMap", secret: "a Secret" } as const;

export async function runContentLatency({ options, disk, report }: OnceInput): Promise<Result> {
  const directory = join(disk, "world");
  const failures: string[] = [];
  const samples = { configMap: noSamples(), secret: noSamples() };
  const world = await startWorld(directory, report);
  const noise = meterNoise(disk);
  try {
    const volumes = await showContent(world.admin);
    const at = (side: "ours" | "kubelet", kind: Kind, name: Name) =>
      `/proc/${world.node.host.pid}/root${fileOf(side, kind, { name, volumes })}`;
    for (const kind of kinds) {
      for (const file of [at("ours", kind, "both"), at("ours", kind, "ours"), at("kubelet", kind, "both")]) {
        await seenIn(file, "first", patience);
      }
    }
    for (let round = 1; round <= options.runs; round += 1) {
      report(`round ${round}/${options.runs}`);
      noise.sample();
      for (let turn = 1; turn <= oursAlone; turn += 1) {
        for (const kind of kinds) {
          const { latencyMs } = await measured(world, { kind, name: "ours", value: `${round}-${turn}` }, at, ["ours"]);
          samples[kind].ours.push({ latencyMs: latencyMs[0] ?? Number.NaN });
        }
      }
      await sleep(options.quick ? 0 : Math.random() * minute);
      const both = await Promise.all(
        kinds.map((kind) => measured(world, { kind, name: "both", value: `${round}` }, at, ["ours", "kubelet"])),
      );
      for (const { kind, latencyMs } of both) {
        const [ours = Number.NaN, kubelet = Number.NaN] = latencyMs;
        report(`  ${kind}: ours ${Math.round(ours)} ms, kubelet ${Math.round(kubelet)} ms`);
        samples[kind].ours.push({ latencyMs: ours });
        samples[kind].kubelet.push({ latencyMs: kubelet });
      }
    }
  } catch (error) {
    failures.push(messageOf(error));
  } finally {
    await world.node.stop().catch((error: unknown) => failures.push(messageOf(error)));
    const { NODEVOLUME_BENCH_LOGS: keep } = process.env;
    if (keep) cpSync(join(directory, "logs"), keep, { recursive: true });
  }
  const of = { benchmark: "content-latency", scope: "through API server and etcd" } as const;
  const rows = kinds.flatMap((kind) => rowsOf({ ...of, scenario: titles[kind] }, measures, samples[kind]));
  return { noise: noise.end(), failures, rows };
}

const measures: readonly Measure[] = [
  { name: "change sent → file on the node", unit: "ms", ours: "latencyMs", kubelet: "latencyMs", wanted },
];

function noSamples(): { readonly ours: Sample[]; readonly kubelet: Sample[] } {
  return { ours: [], kubelet: [] };
}

/** Changes an object, and says after how many milliseconds each side shows that. */
async function measured(
  world: World,
  { kind, name, value }: { readonly kind: Kind; readonly name: Name; readonly value: string },
  at: (side: "ours" | "kubelet", kind: Kind, name: Name) => string,
  sides: readonly ("ours" | "kubelet")[],
): Promise<{ readonly kind: Kind; readonly latencyMs: readonly number[] }> {
  const seen = sides.map((side) => seenIn(at(side, kind, name), value, patience));
  const sentAt = performance.now();
  const [, ...times] = await Promise.all([change(world.admin, kind, name, value), ...seen]);
  return { kind, latencyMs: times.map((time) => time - sentAt) };
}
