import { createHash } from "node:crypto";

/** Hash of a volume's name: names from the API never become parts of a path themselves. */
export function volumeKey(name: string): string {
  return createHash("sha256").update(name).digest("hex").slice(0, 32);
}
