import { mkdirSync, statSync } from "node:fs";
import { setTimeout as sleep, setImmediate as turn } from "node:timers/promises";
import type { Agent } from "../../../src/agent/start.ts";
import type { NodeVolumeIntent } from "../../../src/api/types.gen.ts";
import { UMOUNT } from "../../../src/host/linux/syscall/constants.ts";
import { loadLibc } from "../../../src/host/linux/syscall/libc.ts";
import { FakeApi } from "../../lib/agent-on-kernel/fake-api.ts";
import { intentOf, namesOf, type PodsOf, sourceOf, targetOf } from "./intents.ts";
import { startNode, type Workplace } from "./node-under-test.ts";
import { quantilesOf } from "./quantiles.ts";
import { Sightings } from "./sightings.ts";

/** What a benchmark has measured: milliseconds, but for what its name says. */
export interface Measured {
  readonly [figure: string]: number;
}

export interface MountRun extends PodsOf {
  /** Milliseconds between one pod and the next; 0: all at once. */
  readonly intervalMs: number;
  /** Rounds after the first. */
  readonly rounds: number;
}

type ObserversOfNode = Parameters<typeof startNode> extends [unknown, unknown, ...infer Rest] ? Rest : never;

/** A running agent, with nothing to do yet. */
export async function started(
  place: Workplace,
  ...observers: ObserversOfNode
): Promise<{ api: FakeApi; agent: Agent; sightings: Sightings }> {
  const api = new FakeApi();
  const sightings = new Sightings(api);
  const agent = await startNode(place, api, ...observers);
  while (!agent.ready()) await turn();
  await sleep(100); // what a start takes is measured elsewhere
  return { api, agent, sightings };
}

/**
 * Pods come, and go in the same rhythm, again and again. Each is timed from its own event to the status write of its
 * last volume. The first round is told on its own: the machine code of a process that has just begun is not made yet.
 */
export async function mountRun(place: Workplace, run: MountRun): Promise<Measured> {
  makeSources(place, run);
  const intents = new Map(allNames(run).map((name) => [name, intentOf(name, run.kind, place)]));
  const { api, agent, sightings } = await started(place);
  const rounds: Round[] = [];
  for (let round = 0; round <= run.rounds; round += 1) {
    const cpu = process.cpuUsage();
    const mount = await paced(run, (names) => {
      const done = sightings.mounted(names);
      for (const name of names) api.write(anew(of(intents, name), round));
      return done;
    });
    const { user, system } = process.cpuUsage(cpu);
    await sleep(500); // statuses that were put off
    const unmount = await paced(run, (names) => {
      const done = sightings.released(names);
      for (const name of names) api.revoke(name);
      return done;
    });
    await sleep(500);
    rounds.push({ mount, unmount, cpuMs: (user + system) / 1000 });
  }
  await agent.stop();
  const [first, ...warm] = rounds;
  return { ...figuresOf(warm, ""), ...figuresOf(first === undefined ? [] : [first], "first") };
}

interface Round {
  readonly mount: readonly number[];
  readonly unmount: readonly number[];
  readonly cpuMs: number;
}

/** Of several rounds the medians of their figures. */
function figuresOf(rounds: readonly Round[], prefix: string): Measured {
  const named = (name: string) => (prefix === "" ? name : `${prefix}${name.charAt(0).toUpperCase()}${name.slice(1)}`);
  const median = (figure: (round: Round) => number) => quantilesOf(rounds.map(figure)).p50;
  return {
    [named("mountP50")]: median(({ mount }) => quantilesOf(mount).p50),
    [named("mountP99")]: median(({ mount }) => quantilesOf(mount).p99),
    [named("mountMax")]: median(({ mount }) => quantilesOf(mount).max),
    [named("unmountP50")]: median(({ unmount }) => quantilesOf(unmount).p50),
    [named("unmountP99")]: median(({ unmount }) => quantilesOf(unmount).p99),
    [named("unmountMax")]: median(({ unmount }) => quantilesOf(unmount).max),
    [named("mountCpuMs")]: median(({ cpuMs }) => cpuMs),
  };
}

/** Mounts everything, and keeps it. */
export async function filled(
  place: Workplace,
  of: PodsOf,
  ...observers: ObserversOfNode
): Promise<Awaited<ReturnType<typeof started>>> {
  makeSources(place, of);
  const node = await started(place, ...observers);
  const names = allNames(of);
  const done = node.sightings.mounted(names);
  for (const name of names) node.api.write(intentOf(name, of.kind, place));
  await done;
  await sleep(1000);
  return node;
}

/** Each mount is unmounted behind the agent's back, one after the other: how long it is gone. */
export async function driftRun(place: Workplace, of: PodsOf): Promise<Measured> {
  const { agent } = await filled(place, of);
  const libc = loadLibc();
  const gone: number[] = [];
  for (const name of allNames(of)) {
    const target = targetOf(place, name);
    const before = statSync(target);
    libc.umount2(target, UMOUNT.NOFOLLOW);
    const since = performance.now();
    while (!isSame(before, statSync(target))) await turn();
    gone.push(performance.now() - since);
    await sleep(20);
  }
  await agent.stop();
  const { p50, p99, max, count } = quantilesOf(gone);
  return { repairedP50: p50, repairedP99: p99, repairedMax: max, repaired: count };
}

/** Sources that are not there yet, and are made after a while: how long from then until the volumes are mounted. */
export async function retryRun(place: Workplace, of: PodsOf & { readonly faultMs: number }): Promise<Measured> {
  const { api, agent, sightings } = await started(place);
  const names = allNames(of);
  const done = names.map((name) => sightings.mounted([name]));
  for (const name of names) api.write(intentOf(name, of.kind, place));
  await sleep(of.faultMs);
  const since = performance.now();
  makeSources(place, of);
  const { p50, p99, max } = quantilesOf((await Promise.all(done)).map((at) => at - since));
  await agent.stop();
  return { mountedP50: p50, mountedP99: p99, mountedMax: max };
}

export function allNames(of: PodsOf): string[] {
  return Array.from({ length: of.pods }, (_, pod) => namesOf(of, pod)).flat();
}

async function paced(run: MountRun, begin: (names: readonly string[]) => Promise<number>): Promise<number[]> {
  const started = performance.now();
  const pods: Promise<number>[] = [];
  for (let pod = 0; pod < run.pods; pod += 1) {
    const due = started + pod * run.intervalMs;
    if (run.intervalMs > 0 && due > performance.now()) await sleep(due - performance.now());
    const since = performance.now();
    pods.push(begin(namesOf(run, pod)).then((at) => at - since));
  }
  return Promise.all(pods);
}

function of(intents: ReadonlyMap<string, NodeVolumeIntent>, name: string): NodeVolumeIntent {
  const intent = intents.get(name);
  if (intent === undefined) throw new Error(`no intent ${name}`);
  return intent;
}

/** Another object of the name, as one that is made again is. */
export function anew(intent: NodeVolumeIntent, round: number): NodeVolumeIntent {
  return { ...intent, metadata: { ...intent.metadata, uid: `${intent.metadata.uid}-${round}` } };
}

export function makeSources(place: Workplace, of: PodsOf): void {
  if (of.kind === "local") for (const name of allNames(of)) mkdirSync(sourceOf(place, name), { recursive: true });
}

function isSame(a: { dev: number; ino: number }, b: { dev: number; ino: number }): boolean {
  return a.dev === b.dev && a.ino === b.ino;
}
