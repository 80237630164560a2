// GlusterFS, server and client: Debian's packages, unpacked into the cache and not installed. Both look for their parts in /usr/lib,
// so whoever runs them puts the folder over /usr, in a mount namespace of its own.
import { execFile } from "node:child_process";
import { existsSync, globSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { fillCache, type LocateOptions } from "./cache.ts";
import { cacheDirectory } from "./tool.ts";

const run = promisify(execFile);

/** The packages, and those of their libraries that a small machine may not have. */
const packages = [
  ...["glusterfs-server", "glusterfs-client", "glusterfs-common", "glusterfs-cli"],
  ...["libglusterfs0", "libglusterd0", "libgfrpc0", "libgfxdr0", "libgfapi0", "libgfchangelog0"],
  ...["liburcu8", "libtirpc3", "libaio1"],
];

/** @returns the folder that has `usr` and `etc` of the packages */
export async function locateGluster(options: LocateOptions): Promise<string | { readonly missing: string }> {
  const cached = join(cacheDirectory(options.env), `glusterfs-${process.arch}`);
  try {
    const place = { name: "glusterfs", cached, isThere: () => existsSync(join(cached, "usr/sbin/glusterd")) };
    if (!place.isThere()) await fillCache(place, (out, workshop) => unpackPackages(out, workshop, options), options);
    return cached;
  } catch (error) {
    options.signal?.throwIfAborted();
    return { missing: `needs GlusterFS: ${lastLine(error)}` };
  }
}

async function unpackPackages(out: string, workshop: string, { env, report }: LocateOptions): Promise<void> {
  report("fetching the Debian packages of GlusterFS (once; kept in the cache)");
  const downloads = join(workshop, "packages");
  mkdirSync(downloads);
  await run("apt-get", ["download", ...packages], { cwd: downloads, env, timeout: 120_000 });
  for (const name of readdirSync(downloads)) await run("dpkg-deb", ["-x", join(downloads, name), out], { env });
  // glusterd asks it for seven seconds whether there is replication between data centres, each time that it starts.
  for (const path of globSync(join(out, "usr/lib/*/glusterfs/gsyncd"))) rmSync(path);
  const libraries = globSync(join(out, "usr/lib/*-linux-gnu")).join(":");
  await run(join(out, "usr/sbin/glusterd"), ["--version"], { env: { ...env, LD_LIBRARY_PATH: libraries } });
}

function lastLine(error: unknown): string {
  const { stderr, message } = error as Error & { stderr?: string };
  return (stderr || message).trim().split("\n").at(-1) ?? "";
}
