// What builds an image where there is neither Docker nor a registry: buildah, and a Debian to begin with, made by
// mmdebstrap.
import { execFile } from "node:child_process";
import { existsSync, globSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { baseOf, debianReleaseOf, readDockerfile } from "../image/dockerfile.ts";
import { fillCache, type LocateOptions } from "./cache.ts";
import { cacheDirectory } from "./tool.ts";
import { locateUnpacked } from "./unpacked.ts";

const run = promisify(execFile);

const packages = [
  ...["buildah", "libgpgme11", "libassuan0", "libgpg-error0", "libsubid4", "libdevmapper1.02.1", "libseccomp2"],
  ...["mmdebstrap", "patchelf"],
];

const program = "usr/bin/buildah";

export interface ImageTools {
  /** The program. */
  readonly buildah: string;
  /** Archive of a minimal Debian. */
  readonly debian: string;
}

/** @returns what the machine lacks, if they cannot be had */
export async function locateImageTools(options: LocateOptions): Promise<ImageTools | { readonly missing: string }> {
  const unpacked = await locateBuildah(options);
  if (typeof unpacked !== "string") return unpacked;
  try {
    return { buildah: join(unpacked, program), debian: await locateDebian(unpacked, options) };
  } catch (error) {
    options.signal?.throwIfAborted();
    return { missing: `needs a Debian to build an image from: ${(error as Error).message.trim().split("\n").at(-1)}` };
  }
}

/** @returns the folder that has it in usr/bin, or what the machine lacks */
export function locateBuildah(options: LocateOptions): Promise<string | { readonly missing: string }> {
  const after = async (out: string) => {
    // It starts itself anew with an empty environment and no name of its own, so where the libraries will lie has to be
    // in it.
    const folders = globSync("{lib,usr/lib}/*-linux-gnu", { cwd: out });
    const libraries = (place: string) => folders.map((path) => join(place, path)).join(":");
    const buildah = join(out, program);
    await run(buildah, ["--version"], { env: { ...options.env, LD_LIBRARY_PATH: libraries(out) } });
    const place = join(cacheDirectory(options.env), `buildah-${process.arch}`);
    const setPath = ["--force-rpath", "--set-rpath", libraries(place), buildah];
    await run(join(out, "usr/bin/patchelf"), setPath, { env: options.env });
  };
  return locateUnpacked({ name: "buildah", packages, has: program, after }, options);
}

/** As node's own image begins: of the release that the Dockerfile names, without documents. */
async function locateDebian(unpacked: string, options: LocateOptions): Promise<string> {
  const { env, report } = options;
  const release = debianReleaseOf(baseOf(readDockerfile()));
  const cached = join(cacheDirectory(env), `debian-${release}-${process.arch}`);
  const archive = join(cached, "root.tar");
  const without = ["doc", "man", "locale"].map((name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`);
  const make = async (out: string, workshop: string) => {
    report("making a minimal Debian to build images from (once; kept in the cache)");
    const programs = join(unpacked, "usr/bin"); // one calls the others by name
    const what = ["--variant=minbase", "--mode=root", "--include=libstdc++6,libatomic1", ...without];
    // Beneath its TMPDIR it makes devices, which a sandbox's /tmp does not let it use.
    const around = { ...env, TMPDIR: workshop, PATH: `${programs}:${env["PATH"]}` };
    const settings = { env: around, timeout: 600_000, maxBuffer: 64 << 20 };
    await run("perl", [join(programs, "mmdebstrap"), ...what, release, join(out, "root.tar")], settings);
  };
  const place = { name: "debian", cached, isThere: () => existsSync(archive) };
  if (!place.isThere()) await fillCache(place, make, options);
  return archive;
}
