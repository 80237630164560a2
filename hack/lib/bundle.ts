import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
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

/**
 * src/main.ts and every module that it imports dynamically, one a role: agent/run.ts is agent, child-main.ts is child.
 */
const main = join(root, "src/main.ts");

/**
 * Builds dist/main.cjs and one bundle for each role beside it, CommonJS for Node 24. The process of a role loads its
 * own bundle only, so that an agent does not carry the controller's libraries.
 * @param revision the commit that they say they are of
 */
export async function buildBundles(revision = revisionOf()): Promise<Bundle[]> {
  const roles = dynamicImports(readFileSync(main, "utf8"));
  const entries: { [name: string]: string } = { main };
  for (const [specifier, name] of roles) entries[name] = join(root, "src", specifier);
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    metafile: true,
    entryPoints: entries,
    outdir: join(root, "dist"),
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
    plugins: [rolesStayOutside(roles)],
  });
  await stop(); // its service would stay until we end
  mkdirSync(join(root, "dist"), { recursive: true });
  for (const { path, contents } of outputFiles) placeFile(path, contents);
  return Object.keys(entries).map((name) => {
    const file = `dist/${name}.cjs`;
    return { name, path: join(root, file), inputs: Object.keys(metafile.outputs[file]?.inputs ?? {}) };
  });
}

function textsOf(paths: readonly string[]): { readonly [path: string]: string } {
  return Object.fromEntries(paths.map((path) => [path, readFileSync(join(root, path), "utf8")]));
}

/** Specifiers of dynamic imports, and the name of the bundle that each becomes. */
export function dynamicImports(source: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const [, specifier] of source.matchAll(/import\("(\.[^"]+)"\)/g)) {
    const [, folder, file] = /^\.\/(?:(?:[\w-]+\/)*([\w-]+)\/)?([\w-]+)\.ts$/.exec(specifier ?? "") ?? [];
    if (specifier === undefined || file === undefined) throw new Error(`src/main.ts imports ${specifier}: not a role`);
    found.set(specifier, file === "run" && folder !== undefined ? folder : file.replace(/-main$/, ""));
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
