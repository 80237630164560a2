import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { build, type Plugin, stop } from "esbuild";
import type { Bundle } from "./bundle.ts";
import { placeFile } from "./place-file.ts";
import { revisionOf } from "./revision.ts";
import { root } from "./root.ts";

/**
 * The oldest Node that runs it: people have their own, older than the image's. esbuild lowers the syntax to it; that
 * nothing uses a method which came later is what src/cli/tsconfig.json is for.
 */
export const oldestNode = 20;

/**
 * Builds dist/kubectl-nvi: one file, with all that it needs, that runs wherever there is a `node`. Beside it a
 * package.json says that it is CommonJS, as the one of this repository says otherwise; it is not needed where the file
 * is installed.
 * @param revision the commit that it says it is of
 */
export async function buildCli(revision = revisionOf()): Promise<Bundle> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    metafile: true,
    entryPoints: [join(root, "src/kubectl-nvi.ts")],
    outfile: join(root, "dist/kubectl-nvi"),
    bundle: true,
    write: false,
    platform: "node",
    target: `node${oldestNode}`,
    format: "cjs",
    minifySyntax: true,
    minifyWhitespace: true,
    keepNames: true,
    banner: { js: "#!/usr/bin/env node" },
    define: { builtRevision: JSON.stringify(revision) },
    legalComments: "none",
    logLevel: "warning",
    plugins: [kubeconfigOnly],
  });
  await stop();
  const [file] = outputFiles;
  if (file === undefined) throw new Error("esbuild made nothing of src/kubectl-nvi.ts");
  mkdirSync(join(root, "dist"), { recursive: true });
  placeFile(join(root, "dist/package.json"), `${JSON.stringify({ type: "commonjs" })}\n`);
  placeFile(file.path, file.contents, 0o755);
  const inputs = Object.keys(metafile.outputs["dist/kubectl-nvi"]?.inputs ?? {});
  return { name: "kubectl-nvi", path: file.path, inputs };
}

/** Of client-node only the kubeconfig is used: its generated client, 10 MB of it, and its HTTP client stay away. */
const kubeconfigOnly: Plugin = {
  name: "kubeconfig-only",
  setup(setup) {
    const config = join(root, "node_modules/@kubernetes/client-node/dist/config.js");
    setup.onResolve({ filter: /^@kubernetes\/client-node$/ }, () => ({ path: config }));
    setup.onResolve({ filter: /^(\.\/gen\/index\.js|undici|\.\/middleware\.js)$/ }, ({ path, importer }) =>
      importer === config ? { path, namespace: "left-out" } : undefined,
    );
    setup.onLoad({ filter: /.*/, namespace: "left-out" }, () => ({
      contents: [
        "export class ServerConfiguration {}",
        "export class Agent {}",
        "export class ProxyAgent {}",
        "export const createConfiguration = undefined;",
        "export const setHeaderMiddleware = undefined;",
      ].join("\n"),
    }));
  },
};
