import { expands } from "../../plugins/api/teardown.ts";
import { plugins } from "../../plugins/registry.ts";
import { volumeContent } from "../content/content-of.ts";
import type { VolumeRecord } from "../model/volume-record.ts";
import { expandByDriver } from "./csi/expand.ts";
import { type ActionContext, recordOf, stagingTarget, wanted } from "./operation-context.ts";
import { tearDownContext } from "./plugin-teardown.ts";
import { secretsIn, withoutSecrets } from "./without-secrets.ts";

/** Brings what is on the node to the size that the volume is to have. */
export async function expand(context: ActionContext): Promise<void> {
  const desired = wanted(context);
  const { capacityBytes: to, layout, name, spec, type } = desired;
  if (layout.csi !== undefined) return expandByDriver(context);
  const record = recordOf(context, name);
  const plugin = plugins[type];
  const undo = record.stage?.undo;
  if (!expands(plugin) || to === undefined || undo === undefined) throw new Error("there is no size to grow to");
  const from = record.stage?.capacityBytes ?? (await sizeNow(context, record));
  const content = volumeContent(layout.content, context.content)?.contents;
  const growing = plugin.expand(spec, { from, to }, undo, { ...tearDownContext(context, record, "Normal"), content });
  await growing.catch((error: unknown) => {
    throw withoutSecrets(error, secretsIn(layout, content));
  });
  const after = recordOf(context, name);
  if (after.stage !== undefined) await context.journal.put({ ...after, stage: { ...after.stage, capacityBytes: to } });
}

/** By what is mounted; of a raw device nobody has asked for a size before. */
async function sizeNow(context: ActionContext, record: VolumeRecord): Promise<string> {
  if (record.stage?.kind !== "filesystem") return "0";
  return String(await context.effects.mounter.sizeOf({ root: "/", path: stagingTarget(context, record).path }));
}
