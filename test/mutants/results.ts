import { createHash } from "node:crypto";
import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "../../hack/lib/root.ts";
import type { Judged } from "./judge.ts";
import type { Seed } from "./seed.ts";

interface Line extends Judged {
  readonly key: string;
  readonly name: string;
}

/**
 * What is known already: a line a fault in a file, the newest last. Of sources that have changed since it says nothing.
 */
export class Results {
  readonly #file: string;
  readonly #byKey = new Map<string, Line>();

  constructor(file: string) {
    this.#file = file;
    if (!existsSync(file)) return;
    for (const text of readFileSync(file, "utf8").split("\n")) {
      if (text === "") continue;
      const line = JSON.parse(text) as Line;
      this.#byKey.set(line.key, line);
    }
  }

  of(seed: Seed): Judged | undefined {
    return this.#byKey.get(keyOf(seed));
  }

  add(seed: Seed, judged: Judged): void {
    const line: Line = { key: keyOf(seed), name: seed.name, ...judged };
    this.#byKey.set(line.key, line);
    mkdirSync(dirname(this.#file), { recursive: true });
    appendFileSync(this.#file, `${JSON.stringify(line)}\n`);
  }
}

/** Of the fault, and of the files that it is put into, as they are now. */
function keyOf({ edits }: Seed): string {
  const hash = createHash("sha256").update(JSON.stringify(edits));
  for (const { file } of edits) hash.update(readFileSync(join(root, file)));
  return hash.digest("hex").slice(0, 24);
}
