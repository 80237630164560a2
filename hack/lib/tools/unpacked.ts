// Programs of others as Debian packages, unpacked into the cache and not installed.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fillCache, type LocateOptions } from "./cache.ts";
import { type Unpacking, unpackPackages } from "./debian.ts";
import { cacheDirectory } from "./tool.ts";

/** What is unpacked together. */
export interface Unpacked {
  /** For people, and of the folder in the cache. */
  readonly name: string;
  readonly packages: Unpacking["packages"];
  /** A file beneath the folder that says that all is there. */
  readonly has: string;
  /** Nothing of it depends on the machine: a Node of another architecture finds the same folder. */
  readonly everywhere?: true;
  /** Looks at what was unpacked, or changes it. */
  readonly after?: (out: string) => Promise<void>;
}

/** @returns the folder that has `usr` and `etc` of the packages */
export async function locateUnpacked(
  { name, packages, has, everywhere, after }: Unpacked,
  options: LocateOptions,
): Promise<string | { readonly missing: string }> {
  const cached = join(cacheDirectory(options.env), everywhere ? name : `${name}-${process.arch}`);
  const unpack = async (out: string, workshop: string) => {
    await unpackPackages({ name, packages, out, workshop }, options);
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

/** What a program that failed said last. */
export function lastLine(error: unknown): string {
  const { stderr, message } = error as Error & { stderr?: string };
  return (stderr || message).trim().split("\n").at(-1) ?? "";
}
