// The options of Node that the image has: what is started without it is to use as much memory, and no more.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./root.ts";

/** What stands between `node` and our program in the Dockerfile's ENTRYPOINT. @throws Error if there is none */
export function nodeOptions(): string[] {
  const [, entrypoint] = /^ENTRYPOINT (\[.*\])$/m.exec(readFileSync(join(root, "Dockerfile"), "utf8")) ?? [];
  const [program, ...options] = JSON.parse(entrypoint ?? "[]") as string[];
  if (program !== "node" || options.pop() !== "/app/main.cjs") throw new Error("the Dockerfile starts something else");
  return options;
}
