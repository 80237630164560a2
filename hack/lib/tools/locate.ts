import { accessSync, constants, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { tryLock } from "../syscalls.ts";
import { buildTool } from "./build.ts";
import { fetchRelease, type ReleaseSites } from "./release.ts";
import { cacheDirectory, describeTool, programIn, type Tool, type ToolName } from "./tool.ts";

export type ToolPaths = { readonly [name in ToolName]: string };

export interface LocateOptions {
  readonly env: NodeJS.ProcessEnv;
  /** Gets one line for each thing worth knowing while it takes long. */
  readonly report: (line: string) => void;
  readonly signal?: AbortSignal;
  readonly sites?: ReleaseSites;
}

/**
 * The paths of etcd, kube-apiserver and kubectl, in this order from: KUBEBUILDER_ASSETS, our cache, the project's
 * release, a build from the Go module proxy. What had to be fetched or built is kept in the cache.
 */
export async function locateTools(options: LocateOptions): Promise<ToolPaths> {
  const cache = cacheDirectory(options.env);
  const find = (name: ToolName) => locate(describeTool(name, cache), cache, options);
  return { kubectl: await find("kubectl"), etcd: await find("etcd"), "kube-apiserver": await find("kube-apiserver") };
}

async function locate(tool: Tool, cache: string, options: LocateOptions): Promise<string> {
  const assets = options.env["KUBEBUILDER_ASSETS"];
  if (assets !== undefined && isProgram(programIn(assets, tool))) return programIn(assets, tool);
  const cached = programIn(tool.cached, tool);
  if (isProgram(cached)) return cached;
  mkdirSync(cache, { recursive: true });
  const unlock = await lockCache(cache, options);
  try {
    // Whoever held the lock before may have made it; whoever was killed with it left its folder.
    if (isProgram(cached)) return cached;
    for (const name of readdirSync(cache)) if (name.startsWith("tmp-")) rmSync(join(cache, name), { recursive: true });
    await make(tool, cache, options);
    return cached;
  } finally {
    unlock();
  }
}

/** Makes the program in a folder of its own and renames that into place: the cache never shows half a program. */
async function make(tool: Tool, cache: string, options: LocateOptions): Promise<void> {
  const workshop = join(cache, `tmp-${process.pid}-${tool.name}`);
  const out = join(workshop, "out");
  mkdirSync(out, { recursive: true });
  try {
    const fetched = await fetchRelease(tool, { out, ...options });
    if (!fetched) await buildTool(tool, { out, workshop, ...options });
    renameSync(out, tool.cached);
  } finally {
    rmSync(workshop, { recursive: true, force: true });
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

function isProgram(path: string): boolean {
  if (!existsSync(path)) return false;
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
