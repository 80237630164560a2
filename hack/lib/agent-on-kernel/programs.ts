import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build, stop } from "esbuild";
import { root } from "../root.ts";

const here = "hack/lib/agent-on-kernel";

/** Programs that tests and benchmarks start, as files. */
export interface Programs {
  readonly agent: string;
  readonly child: string;
  readonly fuse: string;
}

/**
 * Bundles what is started beside a real agent, and that itself: from source each of its children would take longer to
 * start than an operation may take. They are gone with this process; if it is killed, with the sandbox, whose own the
 * directory is.
 * @param more other entry points, by name, as paths from the root of the repository
 */
export async function buildPrograms<More extends string = never>(
  more?: Readonly<Record<More, string>>,
): Promise<Programs & Readonly<Record<More, string>>> {
  const outdir = mkdtempSync(join(tmpdir(), "nvo-programs-"));
  process.once("exit", () => rmSync(outdir, { recursive: true }));
  symlinkSync(join(root, "node_modules"), join(outdir, "node_modules")); // where they find what is not bundled
  const entries = {
    agent: `${here}/agent-main.ts`,
    fuse: `${here}/fuse/server-main.ts`,
    ...more,
  };
  const common = { outdir, bundle: true, platform: "node", target: "node24", logLevel: "warning" } as const;
  await build({
    ...common,
    entryPoints: Object.fromEntries(Object.entries(entries).map(([name, path]) => [name, join(root, path)])),
    outExtension: { ".js": ".mjs" },
    format: "esm",
    banner: {
      js: 'import { createRequire as requireOf } from "node:module"; const require = requireOf(import.meta.url);',
    },
    external: ["koffi", "esbuild"],
  });
  // As in the image: what a child does not come to, is not loaded.
  const child = join(outdir, "child.cjs");
  await build({
    ...common,
    entryPoints: { child: join(root, here, "child-entry.ts") },
    outExtension: { ".js": ".cjs" },
    format: "cjs",
    external: ["koffi"],
  });
  await stop();
  const paths = Object.keys(entries).map((name) => [name, join(outdir, `${name}.mjs`)]);
  return { child, ...Object.fromEntries(paths) } as Programs & Record<More, string>;
}
