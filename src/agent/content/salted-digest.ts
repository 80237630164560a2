import { createHmac, randomBytes } from "node:crypto";
import type { ObjectContent } from "../../plugins/api/content.ts";
import type { SaltedDigest } from "../model/salted-digest.ts";

/** A digest of contents with its own salt: equal contents are recognized later, and no Secret is guessed from it. */
export function saltedDigestOf(contents: readonly ObjectContent[]): SaltedDigest {
  const salt = randomBytes(16).toString("hex");
  return { salt, digest: joinedDigest(contents.map(({ data }) => digestOf(data, salt))) };
}

/** HMAC-SHA-256 of keys and values, in no order of theirs. */
export function digestOf(data: ObjectContent["data"], salt: string): string {
  const pairs = [...data].map(([key, value]) => [key, Buffer.from(value).toString("base64")] as const);
  const sorted = pairs.sort(([a], [b]) => (a < b ? -1 : 1));
  return createHmac("sha256", salt).update(JSON.stringify(sorted)).digest("hex");
}

/** Of several objects, in the order of the volume's spec. */
export function joinedDigest(digests: readonly string[]): string {
  return digests.join(" ");
}
