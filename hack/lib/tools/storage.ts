// Programs that a node has for disks and shares, of Debian packages with all their libraries, unpacked into the cache
// and not installed.
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { LocateOptions } from "./cache.ts";
import { mergeUsr } from "./debian.ts";
import { cacheDirectory } from "./tool.ts";
import { locateUnpacked } from "./unpacked.ts";

interface Bundle {
  /** Of its folder in the cache. */
  readonly name: string;
  readonly packages: readonly string[];
  /** Which tests of volumes ask a node for, of usr/sbin. */
  readonly programs: readonly string[];
}

const bundles: readonly Bundle[] = [
  {
    name: "storage",
    packages: ["cryptsetup-bin", "lvm2", "xfsprogs", "btrfs-progs"],
    programs: ["xfs_io", "cryptsetup", "lvm", "mkfs.xfs", "xfs_growfs", "xfs_db", "mkfs.btrfs"],
  },
  { name: "nfs-client", packages: ["nfs-common"], programs: ["mount.nfs"] },
];

const firstOf = ({ programs }: Bundle) => `usr/sbin/${programs[0]}`;

/** Unpacks them, if they are not there. @returns by the name of each folder where it is, or what is missing */
export async function locateStorage(
  options: LocateOptions,
): Promise<{ readonly [name: string]: string | { readonly missing: string } }> {
  const found: { [name: string]: string | { readonly missing: string } } = {};
  const after = async (out: string) => mergeUsr(out);
  for (const bundle of bundles) {
    const { name, packages: closureOf } = bundle;
    const unpacked = { name, packages: { closureOf, whole: true }, has: firstOf(bundle), after } as const;
    found[name] = await locateUnpacked(unpacked, options);
  }
  return found;
}

/** The programs that were unpacked, each with the folder that has their `usr`. */
export function unpackedPrograms(env: NodeJS.ProcessEnv): { readonly name: string; readonly root: string }[] {
  return bundles.flatMap((bundle) => {
    const root = join(cacheDirectory(env), `${bundle.name}-${process.arch}`);
    return existsSync(join(root, firstOf(bundle))) ? bundle.programs.map((name) => ({ name, root })) : [];
  });
}
