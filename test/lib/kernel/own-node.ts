import { execFileSync } from "node:child_process";
import { delimiter, join, sep } from "node:path";

export interface OwnNode {
  readonly path: string;
  readonly version: string;
  readonly major: number;
}

/** The machine's own Node, as people have it: the first in PATH that no package.json brought. */
export function ownNode(): OwnNode | undefined {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  for (const folder of folders.filter((path) => path !== "" && !path.split(sep).includes("node_modules"))) {
    const path = join(folder, "node");
    try {
      const version = execFileSync(path, ["--version"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
      return { path, version: version.trim(), major: Number(/^v(\d+)\./.exec(version)?.[1]) };
    } catch {
      // There is none in this folder.
    }
  }
  return undefined;
}
