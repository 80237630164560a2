// A Helm chart that makes what config/ makes:
//   node hack/release/helm-chart.ts --out FOLDER [--image controller=REF --image agent=REF] [--kubectl PROGRAM]
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { messageOf } from "../../src/errors.ts";
import { version } from "../../src/version.ts";
import { chartFiles, chartName } from "./chart/chart.ts";
import { installedOf, referencesIn } from "./render-install.ts";

const text = { type: "string" } as const;

try {
  const given = { ...text, multiple: true } as const;
  const { values } = parseArgs({ options: { image: given, out: text, kubectl: text } });
  if (values.out === undefined) throw new Error("--out is needed: the folder in which the chart's is made");
  const images = values.image && installedOf(referencesIn(values.image, { controller: undefined, agent: undefined }));
  const files = await chartFiles({ kubectl: values.kubectl ?? "kubectl", version, images });
  for (const [path, content] of files) {
    const file = join(values.out, chartName, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
} catch (error) {
  console.error(messageOf(error));
  process.exitCode = 1;
}
