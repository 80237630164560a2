import { accessSync, constants, existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { buildTool } from "./build.ts";
import { fillCache, type LocateOptions as Options } from "./cache.ts";
import {
  type BenchTool,
  benchTools,
  type ControlPlaneTool,
  type CSITool,
  controlPlaneTools,
  csiTools,
  type NodeTool,
  nodeTools,
  type ReleaseTool,
  releaseTools,
  type ToolName,
} from "./catalog.ts";
import { fetchRelease, type ReleaseSites } from "./release.ts";
import { cacheDirectory, describeTool, programIn, type Tool } from "./tool.ts";

export type ToolPaths = { readonly [name in ControlPlaneTool]: string };
export type CSIToolPaths = { readonly [name in CSITool]: string };

export type NodeToolPaths = { readonly [name in NodeTool]: string };

export interface LocateOptions extends Options {
  readonly sites?: ReleaseSites;
}

/**
 * The paths of etcd, kube-apiserver and kubectl, in this order from: KUBEBUILDER_ASSETS, our cache, the project's
 * release, a build from the Go module proxy. What had to be fetched or built is kept in the cache.
 */
export async function locateTools(options: LocateOptions): Promise<ToolPaths> {
  return locateEach(controlPlaneTools, options);
}

/** The paths of what the tests of CSI need besides, from the same places. Ten minutes and more if nothing is there. */
export async function locateCSITools(options: LocateOptions): Promise<CSIToolPaths> {
  return locateEach(csiTools, options);
}

/** The paths of what the benchmark of large clusters needs besides. Two minutes if nothing is there. */
export async function locateBenchTools(options: LocateOptions): Promise<{ readonly [name in BenchTool]: string }> {
  return locateEach(benchTools, options);
}

/**
 * The paths of what looks at a release, and of the oldest API server that it is for. Ten minutes if nothing is there.
 */
export async function locateReleaseTools(options: LocateOptions): Promise<{ readonly [name in ReleaseTool]: string }> {
  return locateEach(releaseTools, options);
}

/**
 * The paths of what a real node runs, from the same places.
 * @returns what the machine lacks to build them, if they are not there
 */
export async function locateNodeTools(options: LocateOptions): Promise<NodeToolPaths | { readonly missing: string }> {
  const runc = find("runc", options);
  if (runc === undefined && !hasCompiler(options.env)) return { missing: "needs a C compiler, to build runc" };
  return locateEach(nodeTools, options);
}

/** The path of one program alone. */
export async function locateTool(name: ToolName, options: LocateOptions): Promise<string> {
  return (await locateEach([name], options))[name];
}

async function locateEach<N extends ToolName>(names: readonly N[], options: LocateOptions) {
  const paths: Partial<Record<ToolName, string>> = {};
  // One after the other: a build takes all processors.
  for (const name of names) paths[name] = await locate(name, options);
  return paths as { readonly [name in N]: string };
}

async function locate(name: ToolName, options: LocateOptions): Promise<string> {
  const found = find(name, options);
  if (found !== undefined) return found;
  const tool = describeTool(name, cacheDirectory(options.env));
  const cached = programIn(tool.cached, tool);
  await fillCache({ name, cached: tool.cached, isThere: () => isProgram(cached) }, make(tool, options), options);
  return cached;
}

/** Where it is already. */
function find(name: ToolName, { env }: LocateOptions): string | undefined {
  const tool = describeTool(name, cacheDirectory(env));
  const assets = env["KUBEBUILDER_ASSETS"];
  const places = [...(assets === undefined ? [] : [assets]), tool.cached];
  return places.map((place) => programIn(place, tool)).find(isProgram);
}

/** As Go looks for one. */
function hasCompiler(env: NodeJS.ProcessEnv): boolean {
  const folders = (env["PATH"] ?? "").split(delimiter);
  return folders.some((folder) => isProgram(join(folder, env["CC"] || "gcc")));
}

function make(tool: Tool, options: LocateOptions) {
  return async (out: string, workshop: string) => {
    const fetched = await fetchRelease(tool, { out, ...options });
    if (!fetched) await buildTool(tool, { out, workshop, ...options });
  };
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
