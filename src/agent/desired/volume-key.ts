import { hash } from "node:crypto";

/** Hash of a volume's name: names from the API never become parts of a path themselves. */
export function volumeKey(name: string): string {
  return hash("sha256", name, "hex").slice(0, 32);
}
