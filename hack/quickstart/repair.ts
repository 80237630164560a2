// Somebody unmounts a volume behind the agent's back; how fast it comes back, by the kernel's own table.
import { setImmediate as nextTurn } from "node:timers/promises";
import type { PretendHost } from "../lib/pretend-node/node.ts";
import { StepError } from "../lib/process.ts";
import type { Demo } from "./demo.ts";
import { awaitEvent, eventsOf } from "./events.ts";
import { openMountLines, placeOf } from "./mount-lines.ts";
import type { Screen } from "./screen.ts";

export interface Repair {
  /** Milliseconds without the mount, as seen by reading the table over and over (some 0.1 ms apart). */
  readonly goneMs: number;
}

/** Milliseconds; a repair takes a few. */
const patience = 30_000;

/** Unmounts `path` on a host behind the agent's back, and shows how long it was gone, and the Event. */
export async function showRepair({ client }: Pick<Demo, "client">, host: PretendHost, path: string, screen: Screen) {
  screen.step(`umount ${path}, on the host of ${host.name}, behind the agent's back`);
  const told = await eventsOf(client, host.name, "Drifted");
  const { goneMs } = await unmountAndWatch(host, path);
  screen.note(`it was gone for ${milliseconds(goneMs)}, by the kernel's mount table`);
  screen.note(`its Event: ${await awaitEvent(client, host.name, "Drifted", told)}`);
}

/** Unmounts `path` in the host's namespace, and watches the host's mount table until it is mounted again. */
export async function unmountAndWatch(host: PretendHost, path: string): Promise<Repair> {
  const table = openMountLines(host.pid);
  const find = () => table.read().find((line) => placeOf(line) === path);
  try {
    if (find() === undefined) throw new Error(`${path} is not mounted on ${host.name}`);
    let unmounted = false;
    const umount = host.run("umount", path).then(() => {
      unmounted = true;
    });
    let gone: number | undefined;
    const deadline = performance.now() + patience;
    while (performance.now() < deadline) {
      const line = find();
      const now = performance.now();
      if (line === undefined) gone ??= now;
      // Gone and back between two readings: then the end of umount is all the evidence that it was gone.
      else if (gone !== undefined || unmounted) {
        await umount;
        return { goneMs: gone === undefined ? 0 : now - gone };
      }
      await Promise.race([nextTurn(), umount.catch(() => undefined).then(() => nextTurn())]);
    }
    await umount;
    throw new StepError(`${path} did not come back within ${patience / 1000} s`, {
      details: [],
      remedy: "kubectl get nodevolumeintents -o wide says what the agent waits for",
    });
  } finally {
    table.close();
  }
}

export function milliseconds(ms: number): string {
  return `${ms < 1 ? "less than 1" : ms.toFixed(1)} ms`;
}
