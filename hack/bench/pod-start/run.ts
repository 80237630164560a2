// The rounds: pods without a claim, with one by our driver, and with one of kubelet's own, in turns.
import { cpSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { label } from "../../../src/api/names.ts";
import { messageOf } from "../../../src/errors.ts";
import { makeClaims } from "../attach-latency/storage.ts";
import { startWorld } from "../lib/node-world.ts";
import type { OnceInput } from "../lib/once.ts";
import type { Result } from "../lib/result.ts";
import { meterNoise } from "../report/noise.ts";
import { type Measure, rowsOf, type Sample } from "../report/row.ts";
import { median } from "../report/statistics.ts";
import { BenchPods, type Way } from "./pods.ts";

/** How many times sooner than with kubelet's own. */
const wanted = 10;
/** In turns, so that what else the machine does falls on all. */
const each: readonly Way[] = ["no claim", "ours", "kubelet"];
/** Rounds that are not counted: caches are those of programs that have run a while. */
const warming = 2;
/**
 * Milliseconds: a claim that was used is taken at once again when nobody could name it for five seconds (decision
 * 0028).
 */
const rest = 6_000;

const ms = "ms";
const measures: readonly Measure[] = [
  { name: "pod written → Ready", unit: ms, ours: "readyMs", kubelet: "readyMs", wanted },
  { name: "the same, less what a pod without a claim takes", unit: ms, ours: "claimMs", kubelet: "claimMs", wanted },
  { name: "- pod written → intent", unit: ms, ours: "coming.intent" },
  { name: "- intent → VolumeAttachment", unit: ms, ours: "coming.attachment" },
  { name: "- VolumeAttachment → attached", unit: ms, ours: "coming.attached" },
  { name: "- attached → granted", unit: ms, ours: "coming.granted" },
  { name: "- granted → pod Ready", unit: ms, ours: "coming.ready" },
  { name: "pod deleted → gone, detached", unit: ms, ours: "goneMs", kubelet: "goneMs" },
];

export async function runPodStart({ options, disk, report }: OnceInput): Promise<Result> {
  const stop = new AbortController();
  const directory = join(disk, "world");
  const failures: string[] = [];
  const samples: { readonly [way in Way]: Sample[] } = { ours: [], kubelet: [], "no claim": [] };
  const world = await startWorld(directory, report);
  const noise = meterNoise(disk);
  try {
    await makeClaims(world.admin, ["theirs"]);
    await makeClaims(world.admin, ["ours"], { [label.reserved]: "true" });
    const pods = new BenchPods(world.admin);
    await pods.watch(stop.signal);
    for (let round = 1 - warming; round <= options.runs; round += 1) {
      for (const way of each) {
        report(`round ${round}/${options.runs}: ${way}`);
        noise.sample();
        await sleep(rest);
        const sample = await pods.comeAndGo(way, way === "ours" ? "ours" : "theirs");
        report(`  ${JSON.stringify(sample)}`);
        if (round > 0) samples[way].push(sample);
      }
    }
  } catch (error) {
    failures.push(messageOf(error));
  } finally {
    stop.abort();
    await world.node.stop().catch((error: unknown) => failures.push(messageOf(error)));
    const { NODEVOLUME_BENCH_LOGS: keep } = process.env;
    if (keep) cpSync(join(directory, "logs"), keep, { recursive: true });
  }
  const plain = median(samples["no claim"].flatMap(({ readyMs = [] }) => readyMs)) ?? Number.NaN;
  const withClaim = (of: readonly Sample[]) =>
    of.map((sample) => ({ ...sample, claimMs: (sample["readyMs"] ?? Number.NaN) - plain }));
  const both = { ours: withClaim(samples.ours), kubelet: withClaim(samples.kubelet) };
  const of = { benchmark: "pod-start", scope: "through API server and etcd" } as const;
  const rows = rowsOf({ ...of, scenario: "a pod with a claim that attaches" }, measures, both);
  const without = [{ name: "pod written → Ready", unit: ms, ours: "readyMs" }] as const;
  const plainRows = rowsOf({ ...of, scenario: "a pod without" }, without, { ours: samples["no claim"], kubelet: [] });
  return { noise: noise.end(), failures, rows: [...rows, ...plainRows] };
}
