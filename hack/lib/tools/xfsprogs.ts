// mkfs.xfs and xfs_growfs: what PATH has, else the Debian package, unpacked into the cache and not installed.
import { execFile } from "node:child_process";
import { existsSync, globSync, mkdirSync, readdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { fillCache, type LocateOptions } from "./cache.ts";
import { cacheDirectory } from "./tool.ts";

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
    if (!place.isThere()) await fillCache(place, (out, workshop) => unpackPackages(out, workshop, options), options);
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

async function unpackPackages(out: string, workshop: string, { env, report }: LocateOptions): Promise<void> {
  report("fetching the Debian package xfsprogs (once; kept in the cache)");
  const downloads = join(workshop, "packages");
  mkdirSync(downloads);
  await run("apt-get", ["download", ...packages], { cwd: downloads, env, timeout: 120_000 });
  for (const name of readdirSync(downloads)) await run("dpkg-deb", ["-x", join(downloads, name), out], { env });
}

/** Both programs, if the folders have both. */
function found(folders: readonly string[]): Xfsprogs | undefined {
  const find = (name: string) => folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
  const [mkfs, growfs] = [find("mkfs.xfs"), find("xfs_growfs")];
  return mkfs === undefined || growfs === undefined ? undefined : { mkfs, growfs };
}

function lastLine(error: unknown): string {
  const { stderr, message } = error as Error & { stderr?: string };
  return (stderr || message).trim().split("\n").at(-1) ?? "";
}
