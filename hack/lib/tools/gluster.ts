// GlusterFS, server and client. Both look for their parts in /usr/lib, so whoever runs them puts the folder over /usr,
// in a mount namespace of its own.
import { execFile } from "node:child_process";
import { globSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { LocateOptions } from "./cache.ts";
import { locateUnpacked } from "./unpacked.ts";

const run = promisify(execFile);

/** The packages, and those of their libraries that a small machine may not have. */
const packages = [
  ...["glusterfs-server", "glusterfs-client", "glusterfs-common", "glusterfs-cli"],
  ...["libglusterfs0", "libglusterd0", "libgfrpc0", "libgfxdr0", "libgfapi0", "libgfchangelog0"],
  ...["liburcu8", "libtirpc3", "libaio1"],
];

/** @returns the folder that has `usr` and `etc` of the packages */
export function locateGluster(options: LocateOptions): Promise<string | { readonly missing: string }> {
  const after = async (out: string) => {
    // glusterd asks it for seven seconds whether there is replication between data centres, each time that it starts.
    for (const path of globSync(join(out, "usr/lib/*/glusterfs/gsyncd"))) rmSync(path);
    const libraries = globSync(join(out, "usr/lib/*-linux-gnu")).join(":");
    await run(join(out, "usr/sbin/glusterd"), ["--version"], { env: { ...options.env, LD_LIBRARY_PATH: libraries } });
  };
  return locateUnpacked({ name: "glusterfs", packages, has: "usr/sbin/glusterd", after }, options);
}
