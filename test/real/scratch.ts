import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isBeneath } from "../../src/host/mount-table/mount-table.ts";
import { parseMountinfo } from "../../src/host/mount-table/mountinfo.ts";

/** A tmpfs of its own for one test, with everything mounted beneath it taken down afterwards. */
export interface Scratch extends Disposable {
  readonly path: string;
  /** The lines of the kernel's table beneath it. */
  mounts(): ReturnType<typeof parseMountinfo>;
}

export function scratch(): Scratch {
  const path = mkdtempSync(join(tmpdir(), "nvo-real-"));
  execFileSync("mount", ["-t", "tmpfs", "scratch", path]);
  execFileSync("mount", ["--make-shared", path]);
  const mounts = () =>
    parseMountinfo(readFileSync("/proc/self/mountinfo", "utf8")).filter(
      (entry) => entry.point !== path && isBeneath(entry.point, path),
    );
  return {
    path,
    mounts,
    [Symbol.dispose]: () => {
      for (const entry of mounts().reverse()) execFileSync("umount", ["-l", entry.point]);
      execFileSync("umount", [path]);
      rmSync(path, { recursive: true });
    },
  };
}
