import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import type { Kubectl } from "../../../hack/lib/kubectl.ts";
import { root } from "../../../hack/lib/root.ts";

/** A component of config/, with what an administrator writes beside it. */
export interface Kustomized {
  readonly component: string;
  /** More lines of the kustomization, which may name `files`. */
  readonly more?: string;
  readonly files?: { readonly [name: string]: string };
}

/** What `kubectl kustomize` makes of config/default with a component. */
export async function kustomized(kubectl: Kubectl, { component, more = "", files = {} }: Kustomized): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), `nodevolume-${component}-`));
  try {
    const at = (path: string) => relative(directory, join(root, "config", path));
    const lists = `resources: [${at("default")}]\ncomponents: [${at(`components/${component}`)}]\n`;
    writeFileSync(join(directory, "kustomization.yaml"), `kind: Kustomization\n${lists}${more}`);
    for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
    return await kubectl.run(["kustomize", directory]);
  } finally {
    rmSync(directory, { recursive: true });
  }
}
