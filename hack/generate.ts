// Generates src/api/*.gen.ts from crds/*.yaml, which are the single source of the schema, and src/csi/gen from src/csi/proto.
//   node hack/generate.ts           writes the files
//   node hack/generate.ts --check   fails if they are not what the CRDs and protos say
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { type GeneratedFile, generate } from "./lib/generate-api.ts";
import { generateCSI } from "./lib/generate-csi.ts";

const check = process.argv.includes("--check");
const stale: GeneratedFile[] = [];
for (const file of [...(await generate()), ...generateCSI()]) {
  if (!check) write(file);
  else if (!existsSync(file.path) || readFileSync(file.path, "utf8") !== file.text) stale.push(file);
}
if (stale.length > 0) {
  console.error(`not what crds/ and src/csi/proto say: ${stale.map((f) => f.path).join(", ")}; run: npm run generate`);
  process.exitCode = 1;
}

function write(file: GeneratedFile): void {
  mkdirSync(dirname(file.path), { recursive: true });
  writeFileSync(file.path, file.text);
}
