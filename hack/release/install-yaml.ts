// One file for `kubectl apply --server-side -f`: node hack/release/install-yaml.ts --image NAME:TAG [--out FILE] [--kubectl PROGRAM]
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { messageOf } from "../../src/errors.ts";
import { installYaml } from "./render-install.ts";

const text = { type: "string" } as const;

try {
  const { values } = parseArgs({ options: { image: text, out: text, kubectl: text } });
  if (values.image === undefined)
    throw new Error("--image is needed: NAME:TAG or NAME@sha256:DIGEST of what you pushed");
  const yaml = await installYaml({ image: values.image, kubectl: values.kubectl ?? "kubectl" });
  if (values.out === undefined) process.stdout.write(yaml);
  else writeFileSync(values.out, yaml);
} catch (error) {
  console.error(messageOf(error));
  process.exitCode = 1;
}
