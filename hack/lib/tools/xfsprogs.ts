// mkfs.xfs and xfs_growfs: what PATH has, else the Debian package, unpacked into the cache and not installed.
import { execFile } from "node:child_process";
import { existsSync, globSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { fillCache, type LocateOptions } from "./cache.ts";
import { unpackPackages } from "./debian.ts";
import { cacheDirectory } from "./tool.ts";
import { lastLine } from "./unpacked.ts";

const run = promisify(execFile);

/** Where the programs are, and the libraries they came with, if they came with any. */
export interface Xfsprogs {
  readonly mkfs: string;
  readonly growfs: string;
  /** For LD_LIBRARY_PATH. */
  readonly libraries?: string;
}

/** The package, and those of its libraries that a small machine may not have. */
const packages = ["xfsprogs", "libinih1", "liburcu8", "libblkid1", "libuuid1"];

export async function locateXfsprogs(options: LocateOptions): Promise<Xfsprogs | { readonly missing: string }> {
  const installed = found((options.env["PATH"] ?? "").split(delimiter));
  if (installed !== undefined) return installed;
  const cached = join(cacheDirectory(options.env), `xfsprogs-${process.arch}`);
  const unpacked = () => found(["sbin", "usr/sbin"].map((folder) => join(cached, folder)));
  try {
    const place = { name: "xfsprogs", cached, isThere: () => unpacked() !== undefined };
    const unpack = (out: string, workshop: string) =>
      unpackPackages({ name: "xfsprogs", packages, out, workshop }, options);
    if (!place.isThere()) await fillCache(place, unpack, options);
    const programs = unpacked();
    if (programs === undefined) throw new Error(`the package has no mkfs.xfs`);
    const libraries = globSync(join(cached, "{lib,usr/lib}/*-linux-gnu")).join(":");
    await run(programs.mkfs, ["-V"], { env: { ...options.env, LD_LIBRARY_PATH: libraries } });
    return { ...programs, libraries };
  } catch (error) {
    options.signal?.throwIfAborted();
    return { missing: `needs mkfs.xfs: ${lastLine(error)}` };
  }
}

/** Both programs, if the folders have both. */
function found(folders: readonly string[]): Xfsprogs | undefined {
  const find = (name: string) => folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
  const [mkfs, growfs] = [find("mkfs.xfs"), find("xfs_growfs")];
  return mkfs === undefined || growfs === undefined ? undefined : { mkfs, growfs };
}
