import { execFileSync } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, realpathSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { O } from "../../../src/host/linux/syscall/constants.ts";

/**
 * Mounts a tmpfs over `directory`, so that nothing written beneath it reaches the disk.
 * @param keep folders and files that are bound back to where they were, if they lie beneath `directory`
 */
export function coverWithTmpfs(directory: string, keep: readonly string[]): void {
  const cwd = process.cwd();
  const place = realpathSync(directory);
  const kept = keep
    .filter((path) => existsSync(path))
    .map((path) => realpathSync(path))
    .filter((path) => path.startsWith(`${place}/`))
    .map((path) => ({ path, isFile: statSync(path).isFile(), fd: openSync(path, O.PATH) }));
  execFileSync("mount", ["-t", "tmpfs", "-o", "mode=1777,nosuid,nodev", "nodevolume", place]);
  for (const { path, isFile, fd } of kept) {
    mkdirSync(isFile ? dirname(path) : path, { recursive: true });
    if (isFile) writeFileSync(path, "");
    // The descriptor leads to what the tmpfs now hides; mount(8) must not turn it into a path.
    execFileSync("mount", ["--no-canonicalize", "--rbind", `/proc/${process.pid}/fd/${fd}`, path]);
    closeSync(fd);
  }
  if (existsSync(cwd)) process.chdir(cwd);
}
