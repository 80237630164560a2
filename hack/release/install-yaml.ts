// One file for `kubectl apply --server-side -f`:
//   node hack/release/install-yaml.ts --image controller=REF --image agent=REF [--out FILE] [--kubectl PROGRAM]
// REF is NAME:TAG or NAME@sha256:DIGEST.
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { messageOf } from "../../src/errors.ts";
import { installYaml, referencesIn } from "./render-install.ts";

const text = { type: "string" } as const;

try {
  const images = { ...text, multiple: true } as const;
  const { values } = parseArgs({ options: { image: images, out: text, kubectl: text } });
  const references = referencesIn(values.image ?? [], { controller: undefined, agent: undefined });
  const yaml = await installYaml({ references, kubectl: values.kubectl ?? "kubectl" });
  if (values.out === undefined) process.stdout.write(yaml);
  else writeFileSync(values.out, yaml);
} catch (error) {
  console.error(messageOf(error));
  process.exitCode = 1;
}
