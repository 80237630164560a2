// JSON schemas of the CRDs, for editors and kubeconform: node hack/release/crd-schemas.ts --out FOLDER
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { messageOf } from "../../src/errors.ts";
import { crdSchemas } from "./json-schemas.ts";

try {
  const { values } = parseArgs({ options: { out: { type: "string" } } });
  if (values.out === undefined) throw new Error("--out is needed: the folder in which the schemas are written");
  for (const [path, { content }] of crdSchemas()) {
    const file = join(values.out, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
    console.log(file);
  }
} catch (error) {
  console.error(messageOf(error));
  process.exitCode = 1;
}
