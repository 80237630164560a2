import { execFileSync } from "node:child_process";
import { root } from "../../lib/root.ts";

/** Short hash of what is measured. */
export function commit(): string {
  return execFileSync("git", ["rev-parse", "--short", "HEAD"], { cwd: root, encoding: "utf8" }).trim();
}
