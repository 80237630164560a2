import type { CSITool } from "../../lib/tools/catalog.ts";
import { type LocateOptions, locateTool, locateTools, type ToolPaths } from "../../lib/tools/locate.ts";

const beside = [
  "csi-provisioner",
  "csi-attacher",
  "csi-resizer",
  "kube-controller-manager",
] as const satisfies readonly CSITool[];

type BesideTool = (typeof beside)[number];
export type CSIQuickstartTools = ToolPaths & { readonly [name in BesideTool]: string };

/** What the demonstration with a driver runs; what is not there is built, some ten minutes on two processors. */
export async function locateForCSI(options: LocateOptions): Promise<CSIQuickstartTools> {
  const paths: { [name in BesideTool]?: string } = {};
  const plane = await locateTools(options);
  // One after the other: a build takes all processors.
  for (const name of beside) paths[name] = await locateTool(name, options);
  return { ...plane, ...(paths as { readonly [name in BesideTool]: string }) };
}
