// Bundles each role: dist/main.cjs picks the role and loads dist/<role>.cjs. koffi stays outside, because it is native.
// dist/kubectl-nvi is the command line, one file for people's machines.
//   node hack/build.ts [--revision COMMIT]      the commit that they say they are of, where git cannot tell it
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { buildBundles } from "./lib/bundle.ts";
import { buildCli } from "./lib/bundle-cli.ts";

const { revision } = parseArgs({ options: { revision: { type: "string" } } }).values;
for (const { path } of [...(await buildBundles({ revision })), await buildCli(revision)])
  console.log(`${(readFileSync(path).length / 1024).toFixed(0).padStart(6)} KiB  ${path}`);
