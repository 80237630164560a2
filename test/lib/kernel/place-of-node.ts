import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Directory of a node of a test, on a shared tmpfs of its own. */
export function placeOfNode(): string {
  const path = mkdtempSync(join(tmpdir(), "nvo-node-"));
  execFileSync("mount", ["-t", "tmpfs", "-o", "mode=0755", "node", path]);
  execFileSync("mount", ["--make-shared", path]);
  for (const name of ["mnt", "state", "src", "csi", "disks", "kubelet/pods"])
    mkdirSync(join(path, name), { recursive: true });
  return path;
}
