import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Canaries } from "./canaries.ts";

export interface OutputFigures {
  readonly where: string;
  /** What was looked through: bytes, of argv distinct ones. */
  readonly bytes: number;
  readonly canaries: number;
}

/** All that comes out of an agent and its children, looked through for what Secrets say. */
export class Outputs {
  readonly #canaries: Canaries;
  readonly #of = new Map<string, { bytes: number; canaries: number; last: string }>();
  readonly #seen = new Set<string>();

  constructor(canaries: Canaries) {
    this.#canaries = canaries;
  }

  /** The next part of one output: a word that is cut in two is found, too. */
  next(where: string, text: string): void {
    const known = this.#of.get(where) ?? { bytes: 0, canaries: 0, last: "" };
    const joined = known.last + text;
    this.#of.set(where, {
      bytes: known.bytes + text.length,
      canaries: known.canaries + this.#canaries.count(joined) - this.#canaries.count(known.last),
      last: joined.slice(-this.#canaries.longestPart),
    });
  }

  /** Something by itself, which is looked through once however often it is there. */
  whole(where: string, text: string): void {
    if (this.#seen.has(`${where} ${text}`)) return;
    this.#seen.add(`${where} ${text}`);
    this.next(where, `${text}\n`);
  }

  /** The arguments of every process that can be seen, now. */
  arguments(): void {
    for (const pid of readdirSync("/proc")) {
      if (!/^\d+$/.test(pid)) continue;
      const text = ifThere(() => readFileSync(`/proc/${pid}/cmdline`, "latin1"));
      if (text) this.whole("argv", text);
    }
  }

  mountTable(): void {
    for (const line of readFileSync("/proc/self/mountinfo", "latin1").split("\n"))
      this.whole("mountinfo", line.replace(/^\d+ \d+ /, "")); // ids are new each time
  }

  /** All files beneath a directory, in its own file system: what is mounted there is a volume. Their names, too. */
  files(where: string, directory: string, device = lstatSync(directory).dev): void {
    for (const entry of readdirSync(directory, { withFileTypes: true })) {
      const path = join(directory, entry.name);
      this.next(where, `${entry.name}\n`);
      if (entry.isFile()) this.next(where, ifThere(() => readFileSync(path, "latin1")) ?? "");
      else if (entry.isDirectory() && ifThere(() => lstatSync(path).dev) === device) this.files(where, path, device);
    }
  }

  figures(): OutputFigures[] {
    return [...this.#of].map(([where, { bytes, canaries }]) => ({ where, bytes, canaries }));
  }
}

/** Undefined if it went while we looked. */
function ifThere<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if (["ENOENT", "ESRCH"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
}
