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
 */
export async function buildPrograms(): Promise<Programs> {
  mkdirSync(join(root, "dist"), { recursive: true });
  const outdir = mkdtempSync(join(root, "dist", "test-programs-"));
  process.once("exit", () => rmSync(outdir, { recursive: true }));
  const entries = { agent: "agent/agent-main.ts", child: "child-entry.ts", fuse: "fuse/server-main.ts" };
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
  const path = (name: string) => join(outdir, `${name}.mjs`);
  return { agent: path("agent"), child: path("child"), fuse: path("fuse") };
}
