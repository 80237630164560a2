import type { KubeObject } from "../../api/meta.ts";
import { shallow } from "../../api/readable-source.ts";
import type { NodeVolumeIntent } from "../../api/types.gen.ts";
import { parseIntent, parseIntentStatus } from "../../api/validate.ts";
import { sameJson } from "../../kube/same-json.ts";
import { type Desired, isInvalid } from "../model/desired.ts";
import { desiredVolume } from "./desired-volume.ts";
import { notUnderstood } from "./not-understood.ts";
import { volumeKey } from "./volume-key.ts";

/** An intent as it came, and as it is understood. */
export interface IntentEntry extends KubeObject {
  readonly raw: NodeVolumeIntent;
  readonly desired: Desired;
}

/**
 * Understood once, when it comes in. Of an object that differs from what is known in its status alone, `desired` is the
 * very same: each status that is written comes back twice, as the answer and by the watch.
 */
export function understand(
  object: unknown,
  known: (name: string) => IntentEntry | undefined = () => undefined,
): IntentEntry | undefined {
  const whole = object as NodeVolumeIntent; // the API server's own object; only metadata is read before it is validated
  if (whole.metadata?.name === undefined) return undefined;
  const raw = withoutDepth(withoutManagedFields(whole));
  const before = known(raw.metadata.name);
  if (before !== undefined && isSameIntent(before, raw)) return withStatus(before, raw);
  const parsed = parseIntent(raw);
  if (parsed.ok) {
    const intent = parsed.value;
    return { metadata: intent.metadata, raw: intent, desired: desiredVolume(intent, volumeKey(intent.metadata.name)) };
  }
  const { metadata } = raw;
  return { metadata, raw, desired: notUnderstood(raw, parsed.errors, volumeKey(metadata.name)) };
}

/** Who has written which field is half of an object, and nothing to an agent. */
function withoutManagedFields(raw: NodeVolumeIntent): NodeVolumeIntent {
  if (!("managedFields" in raw.metadata)) return raw;
  const { managedFields: _, ...metadata } = raw.metadata;
  return { ...raw, metadata };
}

/** Of a source that nobody has checked yet (decision 0107). */
function withoutDepth(raw: NodeVolumeIntent): NodeVolumeIntent {
  const source = shallow(raw.spec?.source) as NodeVolumeIntent["spec"]["source"];
  return source === raw.spec?.source ? raw : { ...raw, spec: { ...raw.spec, source } };
}

/** Whether two objects are one intent with one spec; the generation alone is a number that the server has chosen. */
function isSameIntent({ raw: { metadata, spec } }: IntentEntry, now: NodeVolumeIntent): boolean {
  const { uid, generation, deletionTimestamp } = now.metadata;
  const same = uid === metadata.uid && generation === metadata.generation;
  return same && deletionTimestamp === metadata.deletionTimestamp && sameJson(spec, now.spec);
}

function withStatus({ raw, desired, metadata: known }: IntentEntry, now: NodeVolumeIntent): IntentEntry {
  const { metadata } = now;
  const isKnown = metadata.resourceVersion !== undefined && metadata.resourceVersion === known.resourceVersion;
  const status = isKnown ? raw.status : isInvalid(desired) ? now.status : parseIntentStatus(now.status);
  return { metadata, raw: { ...raw, metadata, status }, desired };
}
