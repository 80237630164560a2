// Bundles each role: dist/main.cjs picks the role and loads dist/<role>.cjs. koffi stays outside, because it is native.
// dist/kubectl-nvi is the command line, one file for people's machines.
import { readFileSync } from "node:fs";
import { buildBundles } from "./lib/bundle.ts";
import { buildCli } from "./lib/bundle-cli.ts";

for (const { path } of [...(await buildBundles()), await buildCli()])
  console.log(`${(readFileSync(path).length / 1024).toFixed(0).padStart(6)} KiB  ${path}`);
