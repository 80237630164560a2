// Generates src/api/*.gen.ts from crds/*.yaml, which are the single source of the schema.
//   node hack/generate.ts           writes the files
//   node hack/generate.ts --check   fails if they are not what the CRDs say
import { readFileSync, writeFileSync } from "node:fs";
import { type GeneratedFile, generate } from "./lib/generate-api.ts";

const check = process.argv.includes("--check");
const stale: GeneratedFile[] = [];
for (const file of await generate()) {
  if (!check) writeFileSync(file.path, file.text);
  else if (readFileSync(file.path, "utf8") !== file.text) stale.push(file);
}
if (stale.length > 0) {
  console.error(`not what crds/ says: ${stale.map((f) => f.path).join(", ")}; run: npm run generate`);
  process.exitCode = 1;
}
