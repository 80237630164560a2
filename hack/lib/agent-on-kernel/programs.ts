import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build, type Plugin, stop } from "esbuild";
import { root } from "../root.ts";

const here = "hack/lib/agent-on-kernel";
const common = { bundle: true, platform: "node", target: "node24", logLevel: "warning" } as const;

/** In the environment of every lane that touches the kernel: the program of children, as buildChild makes it. */
export const childVariable = "NODEVOLUME_CHILD";

/**
 * Bundles the role `child` into one file of that directory, beneath which koffi can be found. It starts in a fifth of
 * the time that its sources take.
 * @returns the file's path
 */
export async function buildChild(outdir: string, plugins: Plugin[] = []): Promise<string> {
  await build({
    ...common,
    outdir,
    entryPoints: { child: join(root, here, "child-entry.ts") },
    outExtension: { ".js": ".cjs" },
    // As in the image: what a child does not come to, is not loaded.
    format: "cjs",
    external: ["koffi"],
    plugins,
  });
  await stop(); // its service would stay until we end
  return join(outdir, "child.cjs");
}

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
  await build({
    ...common,
    outdir,
    entryPoints: Object.fromEntries(Object.entries(entries).map(([name, path]) => [name, join(root, path)])),
    outExtension: { ".js": ".mjs" },
    format: "esm",
    banner: {
      js: 'import { createRequire as requireOf } from "node:module"; const require = requireOf(import.meta.url);',
    },
    external: ["koffi", "esbuild"],
  });
  const child = process.env[childVariable] ?? (await buildChild(outdir));
  await stop();
  const paths = Object.keys(entries).map((name) => [name, join(outdir, `${name}.mjs`)]);
  return { child, ...Object.fromEntries(paths) } as Programs & Record<More, string>;
}
