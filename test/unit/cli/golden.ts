import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../../hack/lib/root.ts";

/**
 * Set to anything: what comes out is written down as what shall come out. Look at the difference before it is
 * committed.
 */
export const writeVariable = "NODEVOLUME_WRITE_GOLDEN";

/** Texts by title, as a file beside the tests has them: `=== title`, then the text. */
export function readGolden(name: string): Map<string, string> {
  const path = pathOf(name);
  const text = existsSync(path) ? readFileSync(path, "utf8") : "";
  const parts = text.split(/^=== /m).slice(1);
  return new Map(
    parts.map((part) => {
      const end = part.indexOf("\n");
      return [part.slice(0, end), part.slice(end + 1).replace(/\n$/, "")];
    }),
  );
}

export function writeGolden(name: string, texts: ReadonlyMap<string, string>): void {
  writeFileSync(pathOf(name), [...texts].map(([title, text]) => `=== ${title}\n${text}\n`).join(""));
}

function pathOf(name: string): string {
  return join(root, "test/unit/cli", name);
}
