import { setTimeout as sleep } from "node:timers/promises";
import type { JsonObject } from "../lib/api-client.ts";
import { follow } from "../lib/follow.ts";
import { StepError } from "../lib/process.ts";
import type { Demo } from "./demo.ts";
import { keepLog } from "./kept-log.ts";
import { viewOf } from "./live-view.ts";
import type { Screen } from "./screen.ts";

const api = "/apis/nodevolume.dev/v1alpha1";

/** Milliseconds; the first mounts take one or two seconds. */
const patience = 120_000;

/**
 * Shows sets and intents as they change until all sets are Ready.
 * @throws StepError if it takes too long or a process ends
 */
export async function awaitReady(
  demo: Demo,
  names: readonly string[],
  screen: Screen,
  signal: AbortSignal,
): Promise<void> {
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  // Nothing is shown of what nobody has listed yet.
  let sets: ReadonlyMap<string, JsonObject> | undefined;
  let intents: ReadonlyMap<string, JsonObject> | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      const look = () => {
        if (either.aborted || sets === undefined || intents === undefined) return;
        const view = viewOf(names, sets, intents);
        screen.live(view.lines);
        if (view.ready) resolve();
      };
      const timer = setTimeout(() => reject(tooSlow(demo)), patience);
      either.addEventListener("abort", () => {
        clearTimeout(timer);
        reject(new Error("stopped"));
      });
      watchProcesses(demo, either, reject);
      const followSets = follow(
        demo.client,
        `${api}/nodevolumesets`,
        ({ objects }) => {
          sets = objects;
          look();
        },
        either,
      );
      const followIntents = follow(
        demo.client,
        `${api}/nodevolumeintents`,
        ({ objects }) => {
          intents = objects;
          look();
        },
        either,
      );
      Promise.all([followSets, followIntents]).catch(reject);
    });
  } finally {
    stop.abort();
    screen.settle();
  }
}

/** Milliseconds. An agent writes the summary of its node at most every five seconds. */
const summaryPatience = 10_000;

/** Waits until the NodeVolumeStates count what the intents say, so that the tables shown agree; not for ever. */
export async function awaitSummaries(demo: Demo, signal: AbortSignal): Promise<void> {
  const deadline = performance.now() + summaryPatience;
  while (performance.now() < deadline && !signal.aborted) {
    const [states, intents] = await Promise.all([items(demo, "nodevolumestates"), items(demo, "nodevolumeintents")]);
    const counted = (name: string) => intents.filter((intent) => intent.spec?.nodeName === name).length;
    const own = states.filter((state) => demo.hosts.some((host) => host.name === state.metadata.name));
    if (own.every((state) => state.status?.volumes === counted(state.metadata.name))) return;
    await sleep(100);
  }
}

interface Item {
  readonly metadata: { readonly name: string };
  readonly spec?: { readonly nodeName?: string };
  readonly status?: { readonly volumes?: number };
}

async function items(demo: Demo, plural: string): Promise<Item[]> {
  return ((await demo.client.call("GET", `${api}/${plural}`)).body["items"] ?? []) as Item[];
}

/** Calls `onEnd` when a process ends that should not; not any more once the signal aborts. */
export function watchProcesses(demo: Demo, signal: AbortSignal, onEnd: (error: StepError) => void): void {
  for (const process of demo.processes) {
    void process.ended.then((how) => {
      if (signal.aborted) return;
      onEnd(new StepError(`${process.name} ${how}`, { logFile: process.logFile, remedy: keepLog(process.logFile) }));
    });
  }
}

/** Until somebody wants everything to stop. @throws StepError if a process ends */
export function stayUp(demo: Demo, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve());
    watchProcesses(demo, signal, reject);
  });
}

function tooSlow(demo: Demo): StepError {
  const last = demo.processes.at(-1);
  return new StepError(`the sets were not Ready after ${patience / 1000} s`, {
    ...(last === undefined ? {} : { logFile: last.logFile }),
    remedy: "the live view above says what each intent waits for; docs/reasons.md has an entry for each reason",
  });
}
