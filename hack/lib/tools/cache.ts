import { mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { tryLock } from "../syscalls.ts";
import { cacheDirectory } from "./tool.ts";

export interface LocateOptions {
  readonly env: NodeJS.ProcessEnv;
  /** Gets one line for each thing worth knowing while it takes long. */
  readonly report: (line: string) => void;
  readonly signal?: AbortSignal;
}

/**
 * Makes a folder of the cache in a folder of its own and renames that into place: the cache never shows half a program.
 * One at a time makes something, over all processes.
 * @param isThere whether the folder is what it shall be; whoever held the lock before may have made it
 * @param make fills `out`; `workshop` is for temporary files and goes afterwards
 */
export async function fillCache(
  place: { readonly name: string; readonly cached: string; isThere(): boolean },
  make: (out: string, workshop: string) => Promise<void>,
  options: LocateOptions,
): Promise<void> {
  const cache = cacheDirectory(options.env);
  mkdirSync(cache, { recursive: true });
  const unlock = await lockCache(cache, options);
  try {
    if (place.isThere()) return;
    // Whoever was killed with the lock left its folder.
    for (const name of readdirSync(cache)) if (name.startsWith("tmp-")) rmSync(join(cache, name), { recursive: true });
    const workshop = join(cache, `tmp-${process.pid}-${place.name}`);
    const out = join(workshop, "out");
    mkdirSync(out, { recursive: true });
    try {
      await make(out, workshop);
      renameSync(out, place.cached);
    } finally {
      rmSync(workshop, { recursive: true, force: true });
    }
  } finally {
    unlock();
  }
}

async function lockCache(cache: string, options: LocateOptions): Promise<() => void> {
  const path = join(cache, "lock");
  for (let waits = 0; ; waits += 1) {
    const unlock = tryLock(path);
    if (unlock !== undefined) return unlock;
    if (waits === 0) options.report(`another run is filling ${cache}; waiting for it`);
    await sleep(500, undefined, options.signal === undefined ? {} : { signal: options.signal });
  }
}
