import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { promisify } from "node:util";
import { root } from "../lib/root.ts";

const run = promisify(execFile);

/** A kustomization of config/default, as an administrator would write one. */
export interface OfDefault {
  /** Names of folders of config/components. */
  readonly components?: readonly string[];
  /** All else that it has: images, patches. */
  readonly more?: { readonly [field: string]: unknown };
}

/** What `kubectl kustomize` makes of it. */
export async function kustomize(kubectl: string, { components = [], more = {} }: OfDefault): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), "nodevolume-kustomize-"));
  try {
    const at = (path: string) => relative(directory, join(root, "config", path));
    const kustomization = {
      kind: "Kustomization",
      resources: [at("default")],
      components: components.map((name) => at(`components/${name}`)),
      ...more,
    };
    writeFileSync(join(directory, "kustomization.yaml"), JSON.stringify(kustomization)); // JSON is YAML, too
    const { stdout } = await run(kubectl, ["kustomize", directory], { maxBuffer: 64 * 1024 * 1024 });
    return stdout;
  } finally {
    rmSync(directory, { recursive: true });
  }
}
