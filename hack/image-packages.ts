// Writes package.json, package-lock.json and .npmrc for the build of the images, from one folder to another:
// node hack/image-packages.ts FROM TO
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Lock, type Manifest, packagesForBuild } from "./lib/image/packages-for-build.ts";

const [from, to] = process.argv.slice(2);
if (from === undefined || to === undefined) throw new Error("two folders are needed: FROM TO");
const read = <T>(name: string) => JSON.parse(readFileSync(join(from, name), "utf8")) as T;
const { manifest, lock } = packagesForBuild(read<Manifest>("package.json"), read<Lock>("package-lock.json"));
writeFileSync(join(to, "package.json"), JSON.stringify(manifest, undefined, 2));
writeFileSync(join(to, "package-lock.json"), JSON.stringify(lock, undefined, 2));
copyFileSync(join(from, ".npmrc"), join(to, ".npmrc"));
