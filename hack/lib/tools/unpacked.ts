// Programs of others as Debian packages, unpacked into the cache and not installed.
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { fillCache, type LocateOptions } from "./cache.ts";
import { cacheDirectory } from "./tool.ts";

const run = promisify(execFile);

/** Packages with all that they depend on and this machine has not got; of a program with too many libraries to name them. */
export interface Needed {
  readonly closureOf: readonly string[];
}

/** What is unpacked together. */
export interface Unpacked {
  /** For people, and of the folder in the cache. */
  readonly name: string;
  readonly packages: readonly string[] | Needed;
  /** A file beneath the folder that says that all is there. */
  readonly has: string;
  /** Looks at what was unpacked, or changes it. */
  readonly after?: (out: string) => Promise<void>;
}

/** @returns the folder that has `usr` and `etc` of the packages */
export async function locateUnpacked(
  { name, packages, has, after }: Unpacked,
  options: LocateOptions,
): Promise<string | { readonly missing: string }> {
  const { env, report } = options;
  const cached = join(cacheDirectory(env), `${name}-${process.arch}`);
  const unpack = async (out: string, workshop: string) => {
    report(`fetching the Debian packages of ${name} (once; kept in the cache)`);
    const downloads = join(workshop, "packages");
    mkdirSync(downloads);
    const all = "closureOf" in packages ? await missingOf(packages, env) : packages;
    await run("apt-get", ["download", ...all], { cwd: downloads, env, timeout: 300_000 });
    for (const file of readdirSync(downloads)) await run("dpkg-deb", ["-x", join(downloads, file), out], { env });
    await after?.(out);
  };
  try {
    const place = { name, cached, isThere: () => existsSync(join(cached, has)) };
    if (!place.isThere()) await fillCache(place, unpack, options);
    return cached;
  } catch (error) {
    options.signal?.throwIfAborted();
    return { missing: `needs ${name}: ${lastLine(error)}` };
  }
}

/** As apt would install them: it is asked, and installs nothing. */
async function missingOf(packages: Needed, env: NodeJS.ProcessEnv): Promise<string[]> {
  const { stdout } = await run("apt-get", ["--simulate", "--no-install-recommends", "install", ...packages.closureOf], {
    env: { ...env, LC_ALL: "C" },
  });
  return [...stdout.matchAll(/^Inst (\S+)/gm)].map(([, name = ""]) => name);
}

function lastLine(error: unknown): string {
  const { stderr, message } = error as Error & { stderr?: string };
  return (stderr || message).trim().split("\n").at(-1) ?? "";
}
