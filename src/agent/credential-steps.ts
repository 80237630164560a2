import { contentStateOf } from "./content/content-of.ts";
import type { DesiredVolume } from "./desired-volume.ts";
import type { ContentState } from "./plan-input.ts";
import { credentialsWait } from "./pods/pod-steps.ts";
import type { StageRecord, TargetRecord } from "./record.ts";
import type { StepContext } from "./step-context.ts";
import type { Problem } from "./view.ts";

/**
 * PURE. The Secret has other data than it was mounted with, and the mount answers with an error: as long as the session
 * that it began with goes on, nobody is disturbed; afterwards there is nothing left to disturb (decision 0051). A
 * server that says nothing at all may only be slow. What has begun to be taken down for it goes on: the server of that
 * is asked no more.
 */
export function mustReplaceForCredentials({ name, layout }: DesiredVolume, context: StepContext): boolean {
  const { input, record, view } = context;
  const stage = record?.stage;
  if (layout.credentials !== true || layout.opens === true || stage?.kind !== "filesystem") return false;
  if (!isOtherSecret(stage, contentStateOf(layout.content, input.contents))) return false;
  if (!stage.ready) return stage.contentVersion !== undefined && view.stage.mount !== undefined;
  return input.silent?.get(name)?.said !== undefined;
}

/**
 * PURE. What stands in the way of the pod's volume before that: the server, and then the pod; undefined while the
 * server is not asked.
 */
export function refusedAndHeld(
  { name }: DesiredVolume,
  holder: TargetRecord,
  context: StepContext,
): Problem | undefined {
  const silent = context.input.silent?.get(name);
  if (silent?.said === undefined) return undefined;
  const { reason, said, on } = silent;
  const message = `the server does not serve this mount any more (${said}): ${credentialsWait(holder).message}`;
  return { reason, message, ...(on && { on }) };
}

/** By its data, where that is known of both: an object that was written anew with the same is no other one. */
function isOtherSecret(stage: StageRecord, content: ContentState | undefined): boolean {
  if (content?.known !== true || content.version === stage.contentVersion) return false;
  if (stage.mountedWith === undefined || content.digest === undefined) return true;
  return content.digest(stage.mountedWith.salt) !== stage.mountedWith.digest;
}
