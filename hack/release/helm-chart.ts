// A Helm chart that makes what config/ makes: node hack/release/helm-chart.ts --out FOLDER [--image NAME:TAG] [--kubectl PROGRAM]
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { messageOf } from "../../src/errors.ts";
import { version } from "../../src/version.ts";
import { chartFiles, chartName } from "./chart/chart.ts";
import { imageOf } from "./render-install.ts";

const text = { type: "string" } as const;

try {
  const { values } = parseArgs({ options: { image: text, out: text, kubectl: text } });
  if (values.out === undefined) throw new Error("--out is needed: the folder in which the chart's is made");
  const image = values.image === undefined ? undefined : imageOf(values.image);
  const files = await chartFiles({ kubectl: values.kubectl ?? "kubectl", version, image });
  for (const [path, content] of files) {
    const file = join(values.out, chartName, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
} catch (error) {
  console.error(messageOf(error));
  process.exitCode = 1;
}
