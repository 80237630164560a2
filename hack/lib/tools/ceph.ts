// Ceph: monitor, OSD, MDS, and the clients. They look for their parts in /usr/lib, so whoever runs them puts the folder
// over /usr, in a mount namespace of its own.
import { execFile } from "node:child_process";
import { globSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { LocateOptions } from "./cache.ts";
import { mergeUsr } from "./debian.ts";
import { locateUnpacked } from "./unpacked.ts";

const run = promisify(execFile);

/** The packages, and those of their libraries that a small machine may not have. */
const packages = [
  ...["ceph-mon", "ceph-osd", "ceph-mds", "ceph-base", "ceph-common", "ceph-fuse", "rbd-nbd"],
  ...["librados2", "librbd1", "libcephfs2", "libradosstriper1"],
  ...["python3-ceph-argparse", "python3-ceph-common", "python3-rados", "python3-cephfs", "python3-rbd"],
  ...["python3-prettytable", "python3-wcwidth"],
  ...["libboost-thread1.74.0", "libboost-context1.74.0", "libboost-program-options1.74.0", "libboost-iostreams1.74.0"],
  ...["libfmt9", "libgoogle-perftools4", "libtcmalloc-minimal4", "liblua5.3-0", "liboath0", "librabbitmq4"],
  ...["libsnappy1v5", "libleveldb1d", "libfuse2", "libaio1", "libnl-3-200", "libnl-genl-3-200", "libnl-route-3-200"],
  ...["libibverbs1", "librdmacm1", "libndctl6", "libdaxctl1", "libpmem1", "libkeyutils1", "libkmod2"],
  ...["libcryptsetup12", "libdevmapper1.02.1", "libargon2-1", "libjson-c5"],
];

/** @returns the folder that has `usr` of the packages */
export function locateCeph(options: LocateOptions): Promise<string | { readonly missing: string }> {
  const after = async (out: string) => {
    mergeUsr(out);
    const folders = globSync(join(out, "usr/lib/*-linux-gnu"));
    const libraries = [...folders, ...folders.map((path) => `${path}/ceph`)].join(":");
    for (const program of ["ceph-mon", "ceph-osd", "ceph-mds", "ceph-fuse"]) {
      await run(join(out, "usr/bin", program), ["--version"], { env: { ...options.env, LD_LIBRARY_PATH: libraries } });
    }
  };
  return locateUnpacked({ name: "ceph", packages, has: "usr/bin/ceph-mon", after }, options);
}
