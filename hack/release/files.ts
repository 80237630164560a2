import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { buildBundles } from "../lib/bundle.ts";
import { buildCli } from "../lib/bundle-cli.ts";
import { bundlesIn, nameOf, type Target, targets } from "../lib/image/dockerfile.ts";
import { root } from "../lib/root.ts";
import type { LocateOptions } from "../lib/tools/cache.ts";
import { whyPage } from "../lib/why-page.ts";
import { archiveOf } from "./archive.ts";
import { chartFiles, chartName } from "./chart/chart.ts";
import { crdSchemas } from "./json-schemas.ts";
import { nodesAsLocked } from "./node-platforms.ts";
import { pluginFiles } from "./plugin.ts";
import { installedOf, installYaml } from "./render-install.ts";
import { type LockEntry, sbomOf } from "./sbom.ts";
import { signatureOf } from "./signature.ts";

export interface ReleaseOptions {
  readonly version: string;
  /** References of the images, and of what they were built from. */
  readonly images: { readonly [Which in Target | "base"]: string };
  readonly kubectl: string;
  /** When the commit was made. */
  readonly created: Date;
  /** What the changelog says of it. */
  readonly notes: string;
  /** Where the files will be published; without it there is no manifest for krew, which names it. */
  readonly baseURL?: string | undefined;
  /** For kubectl-nvi with the Node of each platform, which npm has. */
  readonly withNode?: LocateOptions | undefined;
  /** A private key of Ed25519, as PEM. */
  readonly signKey?: string | undefined;
}

/** Every file of a release by its name, the same to the last byte for the same commit and options. */
export async function releaseFiles(options: ReleaseOptions): Promise<Map<string, Buffer>> {
  const { version, images, kubectl, created, notes, baseURL, withNode, signKey } = options;
  const files = new Map<string, Buffer>();
  const put = (name: string, content: string | Buffer) => files.set(name, Buffer.from(content));
  const read = (file: string) => readFileSync(join(root, file), "utf8");

  put("images.txt", [...targets, "base" as const].map((which) => `${which} ${images[which]}\n`).join(""));
  put("install.yaml", await installYaml({ references: images, kubectl }));
  const chart = await chartFiles({ kubectl, version, images: installedOf(images) });
  const inChart = [...chart].map(([path, content]) => [`${chartName}/${path}`, { content }] as const);
  put(`${chartName}-${version}.tgz`, archiveOf(new Map(inChart)));
  put(`crd-schemas-${version}.tar.gz`, archiveOf(crdSchemas()));

  const bundles = await buildBundles();
  const cli = await buildCli();
  const plugin = { version, program: readFileSync(cli.path), licence: read("LICENSE") };
  for (const [name, content] of await pluginFiles(plugin, { baseURL, withNode })) put(name, content);

  const { packages } = JSON.parse(read("package-lock.json")) as { packages: { [path: string]: LockEntry } };
  const nodes = withNode === undefined ? {} : nodesAsLocked();
  const lock = { ...packages, ...nodes };
  const koffi = Object.keys(lock).filter((key) =>
    /^node_modules\/(koffi|@koromix\/koffi-linux-(x64|arm64))$/.test(key),
  );
  const ofCli = [...cli.inputs, ...Object.keys(nodes).map((key) => `${key}/bin/node`)];
  const dockerfile = read("Dockerfile");
  for (const target of targets) {
    const names = bundlesIn(dockerfile, target);
    const files = bundles.flatMap(({ name, inputs }) => (names.includes(name) ? inputs : []));
    const beside = names.includes("agent") ? koffi : [];
    const image = { dockerfile, target, base: images.base };
    const sbom = sbomOf({ name: nameOf(target), version, created, files, beside, lock, image });
    put(`sbom-${target}.spdx.json`, sbom);
  }
  put("sbom-kubectl-nvi.spdx.json", sbomOf({ name: "kubectl-nvi", version, created, files: ofCli, lock }));
  put("RELEASE-NOTES.md", `${notes}\n`);
  put("why.html", await whyPage());

  const names = [...files.keys()].sort();
  put("checksums.txt", names.map((name) => `${hashOf(files.get(name) as Buffer)}  ${name}\n`).join(""));
  if (signKey !== undefined) put("checksums.txt.sig", signatureOf(files.get("checksums.txt") as Buffer, signKey));
  return files;
}

function hashOf(content: Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}
