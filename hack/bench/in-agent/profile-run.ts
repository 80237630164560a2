import { join } from "node:path";
import { PerformanceObserver } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { Counts, count } from "./counted.ts";
import { profiled } from "./cpu-profile.ts";
import { intentOf, type PodsOf } from "./intents.ts";
import type { Workplace } from "./node-under-test.ts";
import { allNames, anew, makeSources, started } from "./runs.ts";
import { traced } from "./traced.ts";

/** What one phase took, of all volumes together. */
interface ProfiledPhase {
  /** From the first intent's event to the last volume's status write. */
  readonly ms: number;
  /** Milliseconds of the agent's thread, by what it did. */
  readonly times: readonly (readonly [string, number])[];
  readonly counts: readonly (readonly [string, number])[];
  /** Without the work of `times`; undefined if there is no strace. */
  readonly calls?: readonly (readonly [string, number])[];
}

export interface Profiled {
  readonly volumes: number;
  readonly mount: ProfiledPhase;
  readonly unmount: ProfiledPhase;
}

/** Rounds before the one that counts: until then machine code is made. */
const warming = 2;

/** Mounts and unmounts all at once: once profiled and counted, and once more for the number of system calls. */
export async function profileRun(place: Workplace, of: PodsOf): Promise<Profiled> {
  makeSources(place, of);
  const counts = new Counts();
  const names = allNames(of);
  const { api, agent, sightings } = await started(
    place,
    ({ changed }) => {
      counts.add("looks of the loop, each with a plan");
      counts.add("plans of one volume", changed.size);
    },
    (host) => count(host, counts),
  );
  const written = api.onStatus;
  api.onStatus = (...status) => {
    counts.add("status writes");
    written(...status);
  };
  const collections = new PerformanceObserver((list) => counts.add("garbage collections", list.getEntries().length));
  collections.observe({ entryTypes: ["gc"] });

  let round = 0;
  const mount = async () => {
    const done = sightings.mounted(names);
    for (const name of names) api.write(anew(intentOf(name, of.kind, place), round));
    await done;
  };
  const unmount = async () => {
    const done = sightings.released(names);
    for (const name of names) api.revoke(name);
    await done;
    round += 1;
  };
  const map = `${process.argv[1]}.map`;
  const measured = async (work: () => Promise<void>): Promise<ProfiledPhase> => {
    counts.take();
    let ms = 0;
    const times = await profiled(async () => {
      const since = performance.now();
      const before = process.cpuUsage();
      await work();
      ms = performance.now() - since;
      const { user, system } = process.cpuUsage(before);
      counts.add("ms of processor time, user", user / 1000);
      counts.add("ms of processor time, system", system / 1000);
    }, map);
    return { ms, times: [...times], counts: [...counts.take()] };
  };
  const rest = () => sleep(500); // statuses that were put off

  for (let n = 0; n < warming; n += 1) for (const work of [mount, unmount]) await work().then(rest);
  const phases = { mount: await measured(mount), unmount: await rest().then(() => measured(unmount)) };
  await rest();
  const calls = {
    mount: await traced(mount, join(place.path, "calls")),
    unmount: await rest().then(() => traced(unmount, join(place.path, "calls"))),
  };
  await rest();
  await agent.stop();
  collections.disconnect();
  const whole = (phase: "mount" | "unmount") => ({
    ...phases[phase],
    ...(calls[phase] && { calls: [...calls[phase]] }),
  });
  return { volumes: names.length, mount: whole("mount"), unmount: whole("unmount") };
}
