import { setTimeout as sleep } from "node:timers/promises";
import { setLabelPrefix } from "../../src/api/names.ts";
import { StepError } from "../lib/process.ts";
import { watchProcesses } from "./await-ready.ts";
import type { Demo } from "./demo.ts";
import { placeOf } from "./mount-lines.ts";
import type { Screen } from "./screen.ts";

/** Milliseconds; as long as for the sets to be Ready. */
const patience = 120_000;

/** What is read of an intent. */
export interface MountsOfIntent {
  readonly metadata: { readonly name: string; readonly labels?: { readonly [key: string]: string } };
  readonly spec: { readonly nodeName: string; readonly mounts: readonly { readonly path: string }[] };
}

/**
 * Waits until each host's kernel has the mounts of the sets. An earlier run that was killed has left its sets and what
 * its agent said of them, Ready among it, where nothing is mounted any more: only the kernel knows.
 * @throws StepError if it takes too long or a process ends
 */
export async function awaitMounts(
  demo: Demo,
  sets: readonly string[],
  screen: Screen,
  signal: AbortSignal,
): Promise<void> {
  const stop = new AbortController();
  let end: StepError | undefined;
  watchProcesses(demo, AbortSignal.any([signal, stop.signal]), (error) => {
    end ??= error;
  });
  const deadline = performance.now() + patience;
  let told = false;
  try {
    for (;;) {
      const missing = await missingMounts(demo, sets);
      if (missing.length === 0) return;
      if (!told) screen.note(`said to be Ready, but not mounted yet: ${missing.join(", ")}`);
      told = true;
      if (end !== undefined) throw end;
      if (signal.aborted) throw new Error("stopped");
      if (performance.now() > deadline) throw tooLate(demo, missing);
      await sleep(50);
    }
  } finally {
    stop.abort();
  }
}

async function missingMounts(demo: Demo, sets: readonly string[]): Promise<string[]> {
  const { body } = await demo.client.call("GET", "/apis/nodevolume.dev/v1alpha1/nodevolumeintents");
  const intents = (body["items"] ?? []) as MountsOfIntent[];
  const missing: string[] = [];
  for (const { name, mounts } of demo.hosts)
    for (const path of notMounted(name, sets, intents, await mounts())) missing.push(`${path} on ${name}`);
  return missing;
}

/** PURE. Paths of the sets' mounts on a node that its mount table has not. */
export function notMounted(
  node: string,
  sets: readonly string[],
  intents: readonly MountsOfIntent[],
  table: readonly string[],
): string[] {
  const places = new Set(table.map(placeOf));
  return intents
    .filter(({ spec }) => spec.nodeName === node)
    .filter(({ metadata }) => sets.some((set) => metadata.labels?.[`${setLabelPrefix}${set}`] !== undefined))
    .flatMap(({ spec }) => spec.mounts.map(({ path }) => path))
    .filter((path) => !places.has(path));
}

function tooLate(demo: Demo, missing: readonly string[]): StepError {
  const last = demo.processes.find(({ name }) => name.startsWith("agent"));
  return new StepError(`not mounted after ${patience / 1000} s: ${missing.join(", ")}`, {
    ...(last === undefined ? {} : { logFile: last.logFile }),
    remedy: "kubectl get nodevolumeintents -o wide says what the agent waits for",
  });
}
