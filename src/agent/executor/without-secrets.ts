import { redact } from "../../api/values/redact.ts";
import { messageOf, VolumeError } from "../../errors.ts";
import type { ObjectContent } from "../../plugins/api/content.ts";
import type { Layout } from "../../plugins/api/volume-plugin.ts";

/**
 * Keys of names, by which people find out who was not let in: `username`, `domain`, `node.session.auth.username_in`,
 * and ceph-csi's `userID`.
 */
const ofName = /(^|\.)(username(_in)?|domain|userID)$/;

/**
 * PURE. Values that must not be logged or reported: the contents of the Secrets by which a volume is mounted or opened,
 * without user names.
 */
export function secretsIn({ credentials }: Layout, contents: readonly ObjectContent[] = []): string[] {
  if (credentials !== true) return [];
  const values = contents.flatMap(({ data }) => [...data].filter(([key]) => !ofName.test(key)));
  return values.map(([, value]) => Buffer.from(value).toString("utf8"));
}

/** PURE. An error message without secrets: programs and servers may repeat their input. */
export function withoutSecrets(error: unknown, secrets: readonly string[]): unknown {
  if (secrets.length === 0) return error;
  const message = redact(messageOf(error), secrets);
  if (!(error instanceof VolumeError)) return new VolumeError("SetUpFailed", "transient", message);
  const { reason, errorClass, on, heldBy } = error;
  return new VolumeError(reason, errorClass, message, { ...(on && { on }), heldBy });
}
