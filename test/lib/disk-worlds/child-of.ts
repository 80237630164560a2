import { mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Plugin } from "esbuild";
import { buildChild } from "../../../hack/lib/agent-on-kernel/programs.ts";
import { root } from "../../../hack/lib/root.ts";
import type { Edit } from "../../sim/mutations/mutation.ts";

/**
 * The program of the agent's children.
 * @param edits texts of its sources that are replaced: each stands there once
 * @returns as buildChild does
 */
export async function childOf(edits: readonly Edit[]): Promise<readonly string[]> {
  const outdir = mkdtempSync(join(tmpdir(), "nvo-child-"));
  process.once("exit", () => rmSync(outdir, { recursive: true }));
  symlinkSync(join(root, "node_modules"), join(outdir, "node_modules"));
  const broken: Plugin = {
    name: "broken",
    setup: (setup) =>
      setup.onLoad({ filter: /\.ts$/ }, ({ path }) => {
        const own = edits.filter(({ file }) => path === join(root, file));
        if (own.length === 0) return undefined;
        const contents = own.reduce((text, { from, to }) => text.replace(from, () => to), readFileSync(path, "utf8"));
        return { contents, loader: "ts" };
      }),
  };
  return buildChild(outdir, [broken]);
}
