import { randomUUID } from "node:crypto";
import { chmodSync, renameSync, writeFileSync } from "node:fs";

/**
 * Writes a file and renames it into place: whoever starts it meanwhile, or after we were killed, never reads half of
 * it. The name until then is random: lanes that run beside each other have PID namespaces of their own, and so the same
 * pids.
 */
export function placeFile(path: string, contents: string | Uint8Array, mode = 0o644): void {
  const half = `${path}.${randomUUID()}.half`;
  writeFileSync(half, contents);
  chmodSync(half, mode);
  renameSync(half, path);
}
