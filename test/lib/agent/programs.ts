import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
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
 * may take. They are gone with this process; if it is killed, with the sandbox, whose own the directory is.
 * @param more other entry points, by name, as paths from test/lib
 */
export async function buildPrograms<More extends string = never>(
  more?: Readonly<Record<More, string>>,
): Promise<Programs & Readonly<Record<More, string>>> {
  const outdir = mkdtempSync(join(tmpdir(), "nvo-programs-"));
  process.once("exit", () => rmSync(outdir, { recursive: true }));
  symlinkSync(join(root, "node_modules"), join(outdir, "node_modules")); // where they find what is not bundled
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
