import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { intentOf, type PodsOf } from "./intents.ts";
import type { Workplace } from "./node-under-test.ts";
import { quantilesOf, round } from "./quantiles.ts";
import { allNames, anew, filled, type Measured, makeSources, started } from "./runs.ts";

/** Until statuses are written that were put off, and what follows an operation is done. */
const tailMs = 300;

/**
 * All volumes at once, mounted and unmounted; processor time is that of the process, what follows the last status
 * included. The first round is left out: it is the one in which machine code is made.
 */
export async function burstRun(place: Workplace, of: PodsOf & { readonly rounds: number }): Promise<Measured> {
  makeSources(place, of);
  const names = allNames(of);
  const counted = counter();
  const { api, agent, sightings } = await started(place, counted.planned);
  const rounds: Measured[] = [];
  for (let n = 0; n <= of.rounds; n += 1) {
    const mount = await measured(counted, async () => {
      const done = sightings.mounted(names);
      for (const name of names) api.write(anew(intentOf(name, of.kind, place), n));
      return done;
    });
    const unmount = await measured(counted, async () => {
      const done = sightings.released(names);
      for (const name of names) api.revoke(name);
      return done;
    });
    rounds.push({ ...named("mount", mount), ...named("unmount", unmount) });
  }
  await agent.stop();
  return mediansOf(rounds.slice(1));
}

/** One volume comes and goes, again and again, beside others that are mounted. */
export async function changeRun(place: Workplace, of: PodsOf & { readonly changes: number }): Promise<Measured> {
  const counted = counter();
  const { api, agent, sightings } = await filled(place, of, counted.planned);
  const extra = { pods: of.pods + 1, volumes: of.volumes, kind: of.kind };
  makeSources(place, extra);
  const name = allNames(extra).at(-1) ?? "";
  const rounds: Measured[] = [];
  for (let n = 0; n < of.changes; n += 1) {
    const mount = await measured(counted, async () => {
      const done = sightings.mounted([name]);
      api.write(anew(intentOf(name, of.kind, place), n));
      return done;
    });
    const unmount = await measured(counted, async () => {
      const done = sightings.released([name]);
      api.revoke(name);
      return done;
    });
    rounds.push({ ...named("mount", mount), ...named("unmount", unmount) });
  }
  await agent.stop();
  return mediansOf(rounds.slice(2));
}

/** Everything mounted and nothing to do: processor time a minute; then the same while somebody else mounts. */
export async function restRun(
  place: Workplace,
  of: PodsOf & { readonly seconds: number; readonly windows: number },
): Promise<Measured> {
  const counted = counter();
  const { agent } = await filled(place, of, counted.planned);
  await sleep(12_000); // garbage is collected 10 s after the last change
  const windows: Measured[] = [];
  for (let n = 0; n < of.windows; n += 1) windows.push(await rate(counted, of.seconds));
  const others = join(place.path, "memory", "others");
  mkdirSync(others);
  const loop = `while :; do mount -t tmpfs others ${others}; sleep 0.1; umount ${others}; sleep 0.1; done`;
  const somebody = spawn("sh", ["-c", loop], { stdio: "ignore" });
  const beside: Measured[] = [];
  for (let n = 0; n < of.windows; n += 1) beside.push(await rate(counted, of.seconds / 6));
  const ended = new Promise((resolve) => somebody.once("close", resolve));
  somebody.kill();
  await ended;
  await agent.stop();
  return { ...named("rest", mediansOf(windows)), ...named("beside", mediansOf(beside)) };
}

interface Counter {
  planned(): void;
  /** Since it was taken last. */
  take(): number;
}

function counter(): Counter {
  let plans = 0;
  return {
    planned() {
      plans += 1;
    },
    take() {
      const count = plans;
      plans = 0;
      return count;
    },
  };
}

/** @param work resolves with the moment at which it was done */
async function measured(counted: Counter, work: () => Promise<number>): Promise<Measured> {
  counted.take();
  const before = process.cpuUsage();
  const since = performance.now();
  const ms = (await work()) - since;
  await sleep(tailMs);
  const { user, system } = process.cpuUsage(before);
  return { ms: round(ms), cpuMs: round((user + system) / 1000), plans: counted.take() };
}

async function rate(counted: Counter, seconds: number): Promise<Measured> {
  counted.take();
  const before = process.cpuUsage();
  const since = performance.now();
  await sleep(seconds * 1000);
  const { user, system } = process.cpuUsage(before);
  const minutes = (performance.now() - since) / 60_000;
  return { cpuMsAMinute: round((user + system) / 1000 / minutes), plansAMinute: round(counted.take() / minutes) };
}

function named(prefix: string, measured: Measured): Measured {
  const entries = Object.entries(measured);
  return Object.fromEntries(entries.map(([k, v]) => [`${prefix}${k.charAt(0).toUpperCase()}${k.slice(1)}`, v]));
}

function mediansOf(rounds: readonly Measured[]): Measured {
  const keys = Object.keys(rounds[0] ?? {});
  return Object.fromEntries(keys.map((key) => [key, quantilesOf(rounds.map((each) => each[key] ?? 0)).p50]));
}
