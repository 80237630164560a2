import { accessSync, constants, existsSync } from "node:fs";
import { buildTool } from "./build.ts";
import { fillCache, type LocateOptions as Options } from "./cache.ts";
import { type ControlPlaneTool, type CSITool, controlPlaneTools, csiTools, type ToolName } from "./catalog.ts";
import { fetchRelease, type ReleaseSites } from "./release.ts";
import { cacheDirectory, describeTool, programIn, type Tool } from "./tool.ts";

export type ToolPaths = { readonly [name in ControlPlaneTool]: string };
export type CSIToolPaths = { readonly [name in CSITool]: string };

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
  const tool = describeTool(name, cacheDirectory(options.env));
  const assets = options.env["KUBEBUILDER_ASSETS"];
  if (assets !== undefined && isProgram(programIn(assets, tool))) return programIn(assets, tool);
  const cached = programIn(tool.cached, tool);
  if (isProgram(cached)) return cached;
  await fillCache({ name, cached: tool.cached, isThere: () => isProgram(cached) }, make(tool, options), options);
  return cached;
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
