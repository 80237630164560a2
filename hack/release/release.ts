// What a release has, made of a clean checkout and pushed nowhere:
//   node hack/release/release.ts VERSION --out FOLDER [--image WHICH=REF]… [--base-url URL] [--sign-key PEM]
//       [--with-node] [--tag]
//     [--kubectl PROGRAM]
// WHICH is controller, agent, agent-minimal, or base: what the three were built from.
// docs/release.md says how to go about it.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { messageOf } from "../../src/errors.ts";
import { baseOf, nameOf, readDockerfile, type Target, targets } from "../lib/image/dockerfile.ts";
import { root } from "../lib/root.ts";
import { locateTool } from "../lib/tools/locate.ts";
import { changesOf } from "./changelog.ts";
import { commitTime, tag, uncommitted } from "./checkout.ts";
import { releaseFiles } from "./files.ts";
import { imageOf, referencesIn } from "./render-install.ts";
import { versionProblems } from "./versions.ts";

const text = { type: "string" } as const;
const options = {
  out: text,
  image: { ...text, multiple: true },
  "base-url": text,
  "sign-key": text,
  kubectl: text,
  tag: { type: "boolean" },
  "with-node": { type: "boolean" },
} as const;

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  const [version, ...others] = positionals;
  const { out } = values;
  if (version === undefined || others.length > 0 || out === undefined)
    throw new Error(
      "usage: node hack/release/release.ts VERSION --out FOLDER [--image WHICH=REF]… [--base-url URL] [--sign-key PEM] [--with-node] [--tag]",
    );
  const named = targets.map((target) => [target, `${nameOf(target)}:${version}`] as const);
  const known = { ...(Object.fromEntries(named) as { [T in Target]: string }), base: baseOf(readDockerfile()) };
  const images = referencesIn(values.image ?? [], known);
  const movable = Object.entries(images).filter(([, reference]) => imageOf(reference).digest === undefined);
  const changed = uncommitted().map((line) => `not committed: ${line}`);
  const problems = [...versionProblems(root, version), ...changed];
  if (existsSync(out) && readdirSync(out).length > 0) problems.push(`${out} is not empty`);
  if (values["sign-key"] !== undefined && movable.length > 0) {
    const names = movable.map(([which]) => which).join(", ");
    problems.push(
      `--sign-key: name each image by its digest, --image WHICH=REF@sha256:DIGEST, also ${names}: what a tag stands for can be changed after it was signed`,
    );
  }
  if (problems.length > 0) throw new Error(problems.join("\n"));
  const notes = changesOf(readFileSync(join(root, "CHANGELOG.md"), "utf8"), version) ?? "";
  const tools = { env: process.env, report: (line: string) => console.log(line) };
  const files = await releaseFiles({
    version,
    images,
    // The one that is pinned: another may write install.yaml otherwise.
    kubectl: values.kubectl ?? (await locateTool("kubectl", tools)),
    created: commitTime(),
    notes,
    baseURL: values["base-url"],
    withNode: values["with-node"] ? tools : undefined,
    signKey: values["sign-key"] && readFileSync(values["sign-key"], "utf8"),
  });
  mkdirSync(out, { recursive: true });
  for (const [name, content] of files) {
    writeFileSync(join(out, name), content);
    console.log(`${(content.length / 1024).toFixed(0).padStart(6)} KiB  ${name}`);
  }
  if (values.tag) tag(version, notes);
}

try {
  await main();
} catch (error) {
  console.error(messageOf(error));
  process.exitCode = 1;
}
