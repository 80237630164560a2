import { lstatSync, mkdirSync, readlinkSync } from "node:fs";
import { VolumeError } from "../../../errors.ts";
import type { Logger } from "../../../ports.ts";
import { remoteMountOn } from "../../mount-table/may-block.ts";
import { MountTable } from "../../mount-table/mount-table.ts";
import { describeRemote } from "../../ports/servers.ts";
import { ownMounts } from "../syscall/proc.ts";

/**
 * Makes the directories beneath which volumes may be mounted, where they are missing. The mount table names real paths:
 * a prefix that is a link would never be found in it. One on a file system that may hang
 * is not looked at here: each walk to a target refuses links too, and has a deadline.
 * @throws VolumeError SymlinkInPath
 */
export function makePrefixes(prefixes: readonly string[], log: Logger): void {
  const table = new MountTable(ownMounts());
  for (const prefix of prefixes) {
    const remote = remoteMountOn(table, prefix);
    if (remote === undefined) makeWithoutLinks(prefix);
    else log.warn("a prefix is on a file system that may hang", { prefix, mount: describeRemote(remote) });
  }
}

/** From the root on, so that no link is followed: it may lead to a file system that hangs. */
function makeWithoutLinks(path: string): void {
  for (let end = path.indexOf("/", 1); ; end = path.indexOf("/", end + 1)) {
    const part = end === -1 ? path : path.slice(0, end);
    const stat = lstatSync(part, { throwIfNoEntry: false });
    if (stat === undefined) mkdirSync(part, { mode: 0o755 });
    else if (stat.isSymbolicLink()) {
      const message = `--allowed-prefix: ${part} is a symbolic link to ${readlinkSync(part)}: name the real path`;
      throw new VolumeError("SymlinkInPath", "final", message);
    }
    if (end === -1) return;
  }
}
