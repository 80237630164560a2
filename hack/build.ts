// Bundles each role: dist/main.cjs picks the role and loads dist/<role>.cjs. koffi stays outside, because it is native.
import { readFileSync } from "node:fs";
import { buildBundles } from "./lib/bundle.ts";

for (const { path } of await buildBundles()) {
  console.log(`${(readFileSync(path).length / 1024).toFixed(0).padStart(6)} KiB  ${path}`);
}
