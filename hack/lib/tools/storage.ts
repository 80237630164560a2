// Programs that a node with local disks has, of Debian packages with all their libraries, unpacked into the cache and not installed.
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { LocateOptions } from "./cache.ts";
import { mergeUsr } from "./debian.ts";
import { cacheDirectory } from "./tool.ts";
import { locateUnpacked } from "./unpacked.ts";

const name = "storage";
const has = "usr/sbin/xfs_io";

/** Unpacks them, if they are not there. @returns the folder with their `usr` */
export function locateStorage(options: LocateOptions): Promise<string | { readonly missing: string }> {
  const packages = { closureOf: ["cryptsetup-bin", "lvm2", "xfsprogs", "btrfs-progs"], whole: true } as const;
  const after = async (out: string) => mergeUsr(out);
  return locateUnpacked({ name, packages, has, after }, options);
}

/** The folder with their `usr`, if they were unpacked. */
export function unpackedStorage(env: NodeJS.ProcessEnv): string | undefined {
  const folder = join(cacheDirectory(env), `${name}-${process.arch}`);
  return existsSync(join(folder, has)) ? folder : undefined;
}
