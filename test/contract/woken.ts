import { setImmediate } from "node:timers/promises";
import { silent } from "../../hack/lib/silent-log.ts";
import { TriggerWatcher } from "../../src/agent/backoff/trigger-watcher.ts";
import type { VolumeName } from "../../src/agent/model/identities.ts";
import type { RealNode } from "../lib/kernel/real-node.ts";

/** Milliseconds within which the kernel has told of it, on a machine that does much else. */
const soonMs = 30_000;

/** Resolves when the agent hears, by what it listens to for this volume, that what it waits for has changed. */
export async function wokenBy(node: RealNode, name: VolumeName, change: () => unknown): Promise<void> {
  const sources = await node.wakesOf(name);
  if (sources.length === 0) throw new Error(`nothing is listened to for ${name}`);
  const heard = Promise.withResolvers<void>();
  const listening = new TriggerWatcher({
    wakeups: node.host.wakeups,
    log: silent,
    woken: () => heard.resolve(),
    unwatched: (why) => {
      if (why.size > 0) heard.reject(new Error(`cannot be heard: ${[...why.keys()].join(", ")}`));
    },
  });
  const late = setTimeout(() => heard.reject(new Error(`nothing was heard of ${name} for ${soonMs / 1000} s`)), soonMs);
  listening.follow([[name, sources]]);
  try {
    await node.host.mountTable.read(); // as the walk of each path does, before it listens
    await setImmediate();
    await change();
    await heard.promise;
  } finally {
    clearTimeout(late);
    listening.follow([]);
  }
}
