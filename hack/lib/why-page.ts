import { createHash } from "node:crypto";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { build, stop } from "esbuild";
import { whyTable } from "../../src/explain/why/why-table.ts";
import { version } from "../../src/version.ts";
import { placeFile } from "./place-file.ts";
import { root } from "./root.ts";

/**
 * "Why is it stuck?" as one HTML file that needs no server and loads nothing: its policy lets run what is in it, by its
 * hash. The same sources give the same bytes.
 */
export async function whyPage(): Promise<string> {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: ["src/page/why-page.js", "src/page/page.css"],
    outdir: join(root, "dist/why"),
    bundle: true,
    write: false,
    format: "iife",
    target: "es2024",
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: "none",
    logLevel: "warning",
  });
  await stop();
  const textOf = (ending: string) => outputFiles.find(({ path }) => path.endsWith(ending))?.text ?? "";
  const script = textOf(".js"); // without an end tag in its strings: esbuild sees to that
  const style = textOf(".css");
  const policy = `default-src 'none'; script-src ${hashOf(script)}; style-src ${hashOf(style)}; base-uri 'none'; form-action 'none'`;
  const table = JSON.stringify(whyTable()).replaceAll("<", "\\u003c");
  const parts: { readonly [place: string]: string } = {
    POLICY: policy,
    VERSION: version,
    '<link rel="stylesheet" href="page.css">': `<style>${style}</style>`,
    '<script type="module" src="why-page.js"></script>': `<script type="application/json" id="why-table">${table}</script>\n<script>${script}</script>`,
  };
  const template = readFileSync(join(root, "src/page/why.html"), "utf8");
  // In one go: what is put in is not looked at again.
  return template.replace(new RegExp(Object.keys(parts).join("|"), "g"), (place) => parts[place] ?? "");
}

/** Builds dist/why.html. @returns its path */
export async function buildWhyPage(): Promise<string> {
  const path = join(root, "dist/why.html");
  const text = await whyPage();
  mkdirSync(join(root, "dist"), { recursive: true });
  placeFile(path, Buffer.from(text));
  return path;
}

function hashOf(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}
