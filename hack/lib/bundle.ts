import { mkdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { build, type Plugin, stop } from "esbuild";
import { textPaths } from "../../src/page-files.ts";
import { placeFile } from "./place-file.ts";
import { revisionOf } from "./revision.ts";
import { root } from "./root.ts";

export interface Bundle {
  readonly name: string;
  readonly path: string;
  /** Files that it was made of, from the root of the repository. */
  readonly inputs: readonly string[];
}

const main = join(root, "src/main.ts");

export interface BundleOptions {
  /** The commit that they say they are of: the one that is checked out if not given. */
  readonly revision?: string | undefined;
  /** `dist` if not given. */
  readonly outdir?: string;
  /** Roles that get a bundle beside main.cjs: all if not given. */
  readonly only?: readonly string[];
  readonly plugins?: readonly Plugin[];
}

/**
 * Builds main.cjs and one bundle for each role beside it, CommonJS for Node 24. The process of a role loads its own
 * bundle only, so that an agent does not carry the controller's libraries.
 */
export async function buildBundles(options: BundleOptions = {}): Promise<Bundle[]> {
  const { revision = revisionOf(), outdir = join(root, "dist"), only, plugins = [] } = options;
  const roles = rolesOf(readFileSync(main, "utf8"));
  const entries: { [name: string]: string } = { main };
  for (const [specifier, name] of roles) if (only?.includes(name) ?? true) entries[name] = join(root, "src", specifier);
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    metafile: true,
    entryPoints: entries,
    outdir,
    outExtension: { ".js": ".cjs" },
    bundle: true,
    write: false,
    platform: "node",
    target: "node24",
    format: "cjs",
    minifySyntax: true,
    minifyWhitespace: true,
    keepNames: true,
    sourcemap: "linked",
    // Not bundled: a stack trace of production then still names lines of the sources.
    sourcesContent: false,
    external: ["koffi"],
    // The page has no files beside the bundle.
    define: { pageTexts: JSON.stringify(textsOf(textPaths)), builtRevision: JSON.stringify(revision) },
    logOverride: { "empty-import-meta": "silent" },
    legalComments: "none",
    logLevel: "warning",
    plugins: [rolesStayOutside(roles), ...plugins],
  });
  await stop(); // its service would stay until we end
  mkdirSync(outdir, { recursive: true });
  for (const { path, contents } of outputFiles) placeFile(path, contents);
  return Object.keys(entries).map((name) => {
    const path = join(outdir, `${name}.cjs`);
    return { name, path, inputs: Object.keys(metafile.outputs[relative(root, path)]?.inputs ?? {}) };
  });
}

function textsOf(paths: readonly string[]): { readonly [path: string]: string } {
  return Object.fromEntries(paths.map((path) => [path, readFileSync(join(root, path), "utf8")]));
}

/**
 * Roles of src/main.ts: the modules in folders that it imports dynamically, and the bundle that each becomes.
 * agent/run.ts is agent, child-main.ts is child. A file beside it that it imports so is in main.cjs, and runs on need.
 */
export function rolesOf(source: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const [, specifier] of source.matchAll(/import\("(\.\/[^"]*\/[^"]*)"\)/g)) {
    const [, folder, file] = /^\.\/(?:[\w-]+\/)*([\w-]+)\/([\w-]+)\.ts$/.exec(specifier ?? "") ?? [];
    if (specifier === undefined || folder === undefined || file === undefined)
      throw new Error(`src/main.ts imports ${specifier}: not a role`);
    found.set(specifier, file === "run" ? folder : file.replace(/-main$/, ""));
  }
  return found;
}

function rolesStayOutside(roles: ReadonlyMap<string, string>): Plugin {
  return {
    name: "roles-stay-outside",
    setup(setup) {
      setup.onResolve({ filter: /^\./ }, ({ path, kind, importer }) => {
        const role = importer === main && kind === "dynamic-import" ? roles.get(path) : undefined;
        return role === undefined ? undefined : { path: `./${role}.cjs`, external: true };
      });
    },
  };
}
