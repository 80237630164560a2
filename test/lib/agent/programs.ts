import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { build, stop } from "esbuild";
import { root } from "../../../hack/lib/root.ts";

/** Programs that tests start, as files. */
export interface Programs {
  readonly agent: string;
  readonly child: string;
  readonly fuse: string;
}

/**
 * Bundles what tests of a real agent start: from source each of its children would take longer to start than an operation
 * may take. They are gone with this process.
 * @param more other entry points, by name, as paths from test/lib
 */
export async function buildPrograms<More extends string = never>(
  more?: Readonly<Record<More, string>>,
): Promise<Programs & Readonly<Record<More, string>>> {
  mkdirSync(join(root, "dist"), { recursive: true });
  const outdir = mkdtempSync(join(root, "dist", "test-programs-"));
  process.once("exit", () => rmSync(outdir, { recursive: true }));
  const entries = { agent: "agent/agent-main.ts", child: "child-entry.ts", fuse: "fuse/server-main.ts", ...more };
  await build({
    entryPoints: Object.fromEntries(
      Object.entries(entries).map(([name, path]) => [name, join(root, "test/lib", path)]),
    ),
    outdir,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    platform: "node",
    target: "node24",
    format: "esm",
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
    external: ["koffi"],
    logLevel: "warning",
  });
  await stop();
  const paths = Object.keys(entries).map((name) => [name, join(outdir, `${name}.mjs`)]);
  return Object.fromEntries(paths) as Programs & Record<More, string>;
}
