// The guest's root file system, of Debian packages: node hack/vm/root.ts STATE SUITE PACKAGE… unpacks them with all
// that they depend on below STATE, if they are not there, and prints where they are.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { mergeUsr, sourceOf } from "../lib/tools/debian.ts";
import { locateUnpacked } from "../lib/tools/unpacked.ts";

const run = promisify(execFile);
const [state = "", suite = "", kernel = "", ...others] = process.argv.slice(2);

// Not in the cache of the tools: a setup would wait for whoever builds one of them.
const env = { ...process.env, XDG_CACHE_HOME: state };
const options = { env, report: (line: string) => console.error(line) };
const packages = {
  closureOf: [suite === "" ? kernel : `${kernel}/${suite}`, ...others],
  whole: true,
  ...(suite !== "" && { source: await sourceOf(suite, env) }),
} as const;
// The machine's release is part of the name: on another one the packages are others.
const release = readFileSync("/etc/os-release", "utf8");
const hash = createHash("sha256")
  .update(`${release}${packages.closureOf.join(" ")}`)
  .digest("hex");
const after = async (out: string) => {
  mergeUsr(out);
  await run("bash", [join(import.meta.dirname, "kernel.sh"), out]);
};
const found = await locateUnpacked({ name: `vm-${hash.slice(0, 12)}`, packages, has: "boot/vmlinux", after }, options);
if (typeof found === "string") console.log(found);
else {
  console.error(found.missing);
  process.exitCode = 1;
}
