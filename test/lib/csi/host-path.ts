// The host-path driver, which attaches nothing, beside the lane's own for as long as a file needs it.
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../../hack/lib/api-client.ts";
import { hostPath, type RunningDriver } from "../../../hack/lib/csi/driver.ts";
import { locateTool } from "../../../hack/lib/tools/locate.ts";
import type { Stories, StoryNode } from "./csi-stories.ts";

/** @param spec of its CSIDriver; none: the test makes it */
export async function startHostPath({ world }: Stories, node: StoryNode, spec?: JsonObject): Promise<RunningDriver> {
  const program = await locateTool("hostpathplugin", { env: process.env, report: (line) => console.log(`  ${line}`) });
  const state = mkdtempSync(join(world.directory, "hostpath-"));
  const driver = await node.startDriver(hostPath(`id-of-${node.name}`, program, state, false));
  if (spec !== undefined) await world.objects.csiDriver(driver.name, { attachRequired: false, ...spec });
  return driver;
}

/** Ends a driver that a file has started on a node of the lane, and takes away what names it. */
export async function endDriver({ world }: Stories, node: StoryNode, driver: RunningDriver): Promise<void> {
  await driver.stop();
  await node.kubelet.unregistered(driver.name);
  await world.objects.remove(`/apis/storage.k8s.io/v1/csidrivers/${driver.name}`);
}
