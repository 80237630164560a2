import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "../../../hack/lib/root.ts";
import { readPage } from "./blocks.ts";

/** PURE. The text without code, in which nothing is a link or a heading. */
function prose(text: string): string {
  return text
    .replace(/^( *)```[\s\S]*?^ *```$/gm, "")
    .replace(/`[^`\n]*`/g, (code) => (code.includes("](") ? "" : code));
}

/** PURE. Where the links of a page lead: targets of Markdown links and of images. */
export function linksOf(text: string): string[] {
  return [...prose(text).matchAll(/\]\(([^()\s]+(?:\([^()\s]*\)[^()\s]*)*)\)/g)].map(([, target = ""]) => target);
}

/** PURE. The anchors that GitHub makes of the headings of a page. */
export function anchorsOf(text: string): Set<string> {
  const anchors = new Set<string>();
  for (const [, heading = ""] of text.replace(/^( *)```[\s\S]*?^ *```$/gm, "").matchAll(/^#{1,6} +(.*?) *$/gm)) {
    const base = heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\p{M}_ -]/gu, "")
      .replaceAll(" ", "-");
    let anchor = base;
    for (let count = 1; anchors.has(anchor); count += 1) anchor = `${base}-${count}`;
    anchors.add(anchor);
  }
  return anchors;
}

/** What is wrong with the links of a page to files and places of this repository. */
export function brokenLinks(page: string, text: string): string[] {
  return linksOf(text).flatMap((link) => {
    if (/^[a-z]+:/.test(link)) return [];
    const [path = "", anchor] = link.split("#");
    const target = path === "" ? page : join(dirname(page), path);
    if (!existsSync(join(root, target))) return [`${page}: there is no ${target}`];
    if (anchor === undefined) return [];
    const there = target === page ? text : readPage(target);
    return anchorsOf(there).has(anchor) ? [] : [`${page}: ${target} has no heading #${anchor}`];
  });
}
