import { execFileSync } from "node:child_process";
import { root } from "../lib/root.ts";

/** What is released: a commit of this repository, and nothing beside it. */
function git(...args: string[]): string {
  return execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim();
}

/** Files that differ from the commit, or are not in it. */
export function uncommitted(): string[] {
  const lines = git("status", "--porcelain").split("\n");
  return lines.filter((line) => line !== "");
}

/** When the commit was made: the only time that a release names. */
export function commitTime(): Date {
  return new Date(Number(git("log", "-1", "--format=%ct")) * 1_000);
}

/** An annotated tag here. Nothing is pushed. */
export function tag(version: string, notes: string): void {
  git("tag", "--annotate", "--cleanup=verbatim", `v${version}`, "--message", `${version}\n\n${notes}\n`);
}
