import { hash } from "node:crypto";

/** The version of what a volume shows, as its status has it: one as it is, a digest of several. */
export function shownVersion(version: string): string {
  const versions = version.split(" ");
  return versions.length === 1 ? version : `${versions.length} sources, ${hash("sha256", version, "hex").slice(0, 16)}`;
}
