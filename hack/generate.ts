// Generates src/api/*.gen.ts from crds/*.yaml, which are the single source of the schema, src/csi/gen from
// src/csi/proto, docs/api from crds/*.yaml, docs/symptoms.md from src/api/reasons.ts, docs/authorization-matrix.md from
// test/authorization-matrix.yaml, src/kube/policies/policy-digests.gen.ts from config/policy,
// src/explain/why/reason-texts.gen.ts from docs/reasons.md, and src/cli/check/installation.gen.ts from config/default
// and crds.
//   node hack/generate.ts           writes the files
//   node hack/generate.ts --check   fails if they are not what their sources say
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { type GeneratedFile, generate } from "./lib/generate-api.ts";
import { generateAuthorization } from "./lib/generate-authorization.ts";
import { generateCSI } from "./lib/generate-csi.ts";
import { generateInstallation } from "./lib/generate-installation.ts";
import { generatePolicies } from "./lib/generate-policies.ts";
import { generateReasonTexts } from "./lib/generate-reason-texts.ts";
import { generateReference } from "./lib/generate-reference.ts";
import { generateSymptoms } from "./lib/generate-symptoms.ts";

const check = process.argv.includes("--check");
const stale: GeneratedFile[] = [];
const makers = [
  ...[generateCSI, generateAuthorization, generateInstallation, generatePolicies],
  ...[generateReasonTexts, generateReference, generateSymptoms],
];
const generated = makers.flatMap((make) => make());
for (const file of [...(await generate()), ...generated]) {
  if (!check) write(file);
  else if (!existsSync(file.path) || readFileSync(file.path, "utf8") !== file.text) stale.push(file);
}
if (stale.length > 0) {
  console.error(`not what their sources say: ${stale.map((f) => f.path).join(", ")}; run: npm run generate`);
  process.exitCode = 1;
}

function write(file: GeneratedFile): void {
  mkdirSync(dirname(file.path), { recursive: true });
  writeFileSync(file.path, file.text);
}
