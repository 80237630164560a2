import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { NodeVolumeIntent } from "../../../src/api/types.gen.ts";
import { FakeApi } from "../../lib/agent-on-kernel/fake-api.ts";
import type { PodsOf } from "./intents.ts";
import { startNode, type Workplace } from "./node-under-test.ts";
import { round } from "./quantiles.ts";
import { filled, type Measured } from "./runs.ts";

/** Everything mounted, nothing to do: processor time of a minute, and memory. */
export async function idleRun(place: Workplace, of: PodsOf & { readonly seconds: number }): Promise<Measured> {
  const { agent } = await filled(place, of);
  await sleep(15_000);
  const before = process.cpuUsage();
  const since = performance.now();
  await sleep(of.seconds * 1000);
  const { user, system } = process.cpuUsage(before);
  const minutes = (performance.now() - since) / 60_000;
  const figures = {
    cpuSecondsAMinute: Math.round((user + system) / minutes / 1000) / 1000,
    rssMiB: residentMiB("VmRSS"),
    anonymousMiB: residentMiB("RssAnon"),
    peakMiB: residentMiB("VmHWM"),
  };
  await agent.stop();
  return figures;
}

/** Mounts everything, ends the agent, and measures a fresh process on what is there. */
export async function restartRun(place: Workplace, of: PodsOf): Promise<Measured> {
  const { api, agent } = await filled(place, of);
  await agent.stop();
  const file = join(place.path, "intents.json");
  writeFileSync(file, JSON.stringify([...api.intents()]));
  const [program = ""] = process.argv.slice(1);
  const again = JSON.stringify({ run: "again", path: place.path, of: { file } });
  const output = execFileSync(process.execPath, [...process.execArgv, program, again], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  return JSON.parse(output) as Measured;
}

/**
 * The fresh process: from the start of the agent, and of the process, to a plan that shows every volume as it should
 * be.
 */
export async function againRun(place: Workplace, { file }: { readonly file: string }): Promise<Measured> {
  const intents = JSON.parse(readFileSync(file, "utf8")) as NodeVolumeIntent[];
  const api = new FakeApi();
  for (const intent of intents) api.write(intent);
  const { promise, resolve } = Promise.withResolvers<number>();
  const since = performance.now();
  const agent = await startNode(place, api, ({ synced, volumes }) => {
    if (!synced || volumes.size !== intents.length) return;
    for (const { pending, actualState } of volumes.values()) {
      if (pending.length > 0 || actualState.targets.some(({ truth }) => truth !== "mounted")) return;
    }
    resolve(performance.now());
  });
  const at = await promise;
  const { user, system } = process.cpuUsage();
  await agent.stop();
  return { ready: round(at - since), readySinceExec: round(at), cpu: round((user + system) / 1000) };
}

function residentMiB(field: string): number {
  const [, kib] = new RegExp(`^${field}:\\s+(\\d+) kB$`, "m").exec(readFileSync("/proc/self/status", "utf8")) ?? [];
  return round(Number(kib) / 1024);
}
