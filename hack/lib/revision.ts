import { execFileSync } from "node:child_process";
import { realpathSync } from "node:fs";
import { root } from "./root.ts";

/**
 * The commit that a build of this tree is of, with `-dirty` behind if files differ from it. "unknown": the tree has no
 * git of its own, as one that was unpacked from an archive, or there is no git.
 */
export function revisionOf(directory = root): string {
  const git = (...args: string[]) =>
    execFileSync("git", args, { cwd: directory, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  try {
    const [top = "", commit = ""] = git("rev-parse", "--show-toplevel", "HEAD").split("\n");
    // The repository around it, if any, is not its own.
    if (realpathSync(top) !== realpathSync(directory)) return "unknown";
    return git("status", "--porcelain") === "" ? commit : `${commit}-dirty`;
  } catch {
    return "unknown";
  }
}
