// Headers of the kernel's and the C library's interfaces, of each architecture that the agent runs on, as Debian has
// them.
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { LocateOptions } from "./cache.ts";
import { locateUnpacked } from "./unpacked.ts";

/** Newer than what any node runs: what a kernel once said stays. */
const suite = "trixie-backports";

/** Debian's names. */
const architectures = ["amd64", "arm64"] as const;

/** @returns the folder that has `usr/include`, of all architectures */
export function locateKernelHeaders(options: LocateOptions): Promise<string | { readonly missing: string }> {
  const names = [`linux-libc-dev/${suite}`, ...architectures.map((name) => `libc6-dev:${name}`)];
  const after = async (out: string) => {
    for (const folder of ["usr/share", "usr/bin"]) rmSync(join(out, folder), { recursive: true, force: true });
    for (const triplet of ["x86_64-linux-gnu", "aarch64-linux-gnu"])
      rmSync(join(out, "usr/lib", triplet), { recursive: true, force: true });
  };
  const packages = { names, suite, architectures };
  const has = "usr/include/linux/mount.h";
  return locateUnpacked({ name: "kernel-headers", packages, has, everywhere: true, after }, options);
}
