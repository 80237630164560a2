import { contentStateOf } from "../content/content-of.ts";
import type { Problem } from "../model/actual-volume.ts";
import type { DesiredVolume } from "../model/desired.ts";
import type { ContentState } from "../model/plan-input.ts";
import type { StageRecord, TargetRecord } from "../model/volume-record.ts";
import { credentialsWait } from "./pod-steps.ts";
import type { StepContext } from "./step-context.ts";

/**
 * PURE. Whether the volume is remounted because its Secret has changed: only when the mount returns an error. As long
 * as the session that it began with works, no consumer is interrupted; afterwards there is none to interrupt (decision
 * 0051). An unresponsive server may only be slow. A teardown that has begun for this reason continues: the server is
 * not probed during it.
 */
export function mustReplaceForCredentials({ name, layout }: DesiredVolume, context: StepContext): boolean {
  const { input, record, actualState } = context;
  const stage = record?.stage;
  if (layout.credentials !== true || layout.opens === true || stage?.kind !== "filesystem") return false;
  if (!isOtherSecret(stage, contentStateOf(layout.content, input.contents))) return false;
  if (!stage.ready) return stage.contentVersion !== undefined && actualState.stage.mount !== undefined;
  return input.unresponsive?.get(name)?.said !== undefined;
}

/**
 * PURE. The problem of the pod's volume before that: the server, then the pod; undefined while the server is not
 * probed.
 */
export function refusedAndHeld(
  { name }: DesiredVolume,
  holder: TargetRecord,
  context: StepContext,
): Problem | undefined {
  const unresponsive = context.input.unresponsive?.get(name);
  if (unresponsive?.said === undefined) return undefined;
  const { reason, said, on } = unresponsive;
  const message = `the server does not serve this mount any more (${said}): ${credentialsWait(holder).message}`;
  return { reason, message, ...(on && { on }) };
}

/** By its data, where that is known of both: an object that was written anew with the same is no other one. */
function isOtherSecret(stage: StageRecord, content: ContentState | undefined): boolean {
  if (content?.known !== true || content.version === stage.contentVersion) return false;
  if (stage.mountedWith === undefined || content.digest === undefined) return true;
  return content.digest(stage.mountedWith.salt) !== stage.mountedWith.digest;
}
