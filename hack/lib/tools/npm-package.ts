import { execFile } from "node:child_process";
import { globSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { root } from "../root.ts";
import type { LocateOptions } from "./cache.ts";

const run = promisify(execFile);

/** A package of npm, of one content. */
export interface PinnedPackage {
  readonly name: string;
  readonly version: string;
  /** `sha512-` and the hash in base64, as the lock file has it. */
  readonly integrity: string;
}

/** What the lock file pins. @throws Error if it has no such package */
export function lockedPackage(name: string): PinnedPackage {
  const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
    packages: { readonly [path: string]: { readonly version: string; readonly integrity: string } };
  };
  const entry = lock.packages[`node_modules/${name}`];
  if (entry === undefined) throw new Error(`the lock file has no ${name}`);
  return { name, version: entry.version, integrity: entry.integrity };
}

/**
 * Unpacks a package into a folder, whatever platform it is for.
 * @throws Error if npm hands out other content than is pinned
 */
export async function unpackPackage(
  { name, version, integrity }: PinnedPackage,
  folder: string,
  { env, report }: LocateOptions,
): Promise<void> {
  report(`fetching ${name} ${version}`);
  mkdirSync(folder, { recursive: true });
  const args = ["pack", `${name}@${version}`, "--json", "--pack-destination", folder];
  const { stdout } = await run("npm", args, { cwd: folder, env, maxBuffer: 16 * 1024 * 1024 });
  const [packed] = JSON.parse(stdout) as { readonly integrity: string }[];
  if (packed?.integrity !== integrity) throw new Error(`${name} ${version} is not what is pinned`);
  const [archive = ""] = globSync(join(folder, "*.tgz"));
  await run("tar", ["-xzf", archive, "-C", folder, "--strip-components=1", "--no-same-owner"], { env });
  rmSync(archive);
}
