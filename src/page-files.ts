import { readFileSync } from "node:fs";
import { whyTable } from "./explain/why/why-table.ts";

/** What the browser gets beside data, by the path of its URL. */
export type PageFiles = ReadonlyMap<string, { readonly type: string; readonly text: string }>;

/** By path, put in when this is bundled (hack/lib/bundle.ts); run from its sources it reads them itself. */
declare const pageTexts: { readonly [path: string]: string } | undefined;

const names = [
  ...["index.html", "page.css", "icon.svg"],
  ...["page.js", "aside.js", "columns.js", "data.js", "dom.js", "search.js", "panel.js", "picture.js", "table.js"],
  ...["why.js", "why-here.js", "why-view.js", "labels.js"],
];

/** What a bundle has to have, as paths of the repository. */
export const textPaths: readonly string[] = names.map((name) => `src/page/${name}`);

const types: { readonly [ending: string]: string } = {
  html: "text/html; charset=utf-8",
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
};

/** The files of the page, from the bundle or, in development, from the source tree. */
export function loadPageFiles(): PageFiles {
  const texts = typeof pageTexts === "undefined" ? undefined : pageTexts;
  const textOf = (path: string) => texts?.[path] ?? readFileSync(new URL(`../${path}`, import.meta.url), "utf8");
  const files = names.map((name) => {
    const type = types[name.slice(name.lastIndexOf(".") + 1)] ?? "";
    return [name === "index.html" ? "/" : `/${name}`, { type, text: textOf(`src/page/${name}`) }] as const;
  });
  return new Map([
    ...files,
    ["/why.json", { type: "application/json; charset=utf-8", text: JSON.stringify(whyTable()) }],
  ]);
}
