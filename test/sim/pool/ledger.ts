import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import type { Job, Outcome } from "./jobs.ts";

export type SeedKind = Exclude<Job["kind"], "crash">;

/** Seeds of one kind that one thread tells one after the other. */
export interface Share {
  readonly kind: SeedKind;
  readonly firstSeed: number;
  readonly seeds: number;
}

/** All seeds that somebody wants told, in shares of `size`. */
export interface Wanted {
  readonly kind: SeedKind;
  readonly first: number;
  readonly seeds: number;
  readonly size: number;
}

/** What a share came to: one line of the file. */
export interface Entry extends Share {
  /** Of the sources that were run: another one's seeds say nothing of these. */
  readonly commit: string;
  readonly runs: number;
  readonly pairs: number;
  /** Of processor time of its thread. */
  readonly ms: number;
  readonly failed: number;
  /** The first few runs that failed, as text. */
  readonly failures: readonly string[];
}

/** A file with the shares that are done, so that millions of seeds can be told in several sittings. */
export class SeedLedger {
  readonly #file: string;
  readonly #commit: string;
  readonly #entries: Map<string, Entry>;

  /** @throws Error if the file cannot be read or repaired; SyntaxError for a whole line that is no JSON */
  constructor(file: string, commit: string) {
    this.#file = file;
    this.#commit = commit;
    const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n") : [""];
    const cutOff = lines.pop() ?? "";
    // The process ended while it wrote: that share is told again.
    if (cutOff !== "") writeFileSync(file, lines.map((line) => `${line}\n`).join(""));
    this.#entries = new Map(lines.map((line) => JSON.parse(line) as Entry).map((entry) => [keyOf(entry), entry]));
  }

  /** What these sources have told of it. */
  done(of: Wanted): Entry[] {
    return sharesOf(of).flatMap((share) => this.#of(share) ?? []);
  }

  /** What is still to be told. A share of another size, or one that begins elsewhere, counts as another one. */
  left(of: Wanted): Share[] {
    return sharesOf(of).filter((share) => this.#of(share) === undefined);
  }

  add({ kind, firstSeed, seeds }: Share, { runs, pairs, ms, failed, failures }: Outcome): void {
    const entry: Entry = { kind, firstSeed, seeds, commit: this.#commit, runs, pairs, ms, failed, failures };
    this.#entries.set(keyOf(entry), entry);
    appendFileSync(this.#file, `${JSON.stringify(entry)}\n`);
  }

  #of(share: Share): Entry | undefined {
    return this.#entries.get(keyOf({ ...share, commit: this.#commit }));
  }
}

function sharesOf({ kind, first, seeds, size }: Wanted): Share[] {
  return Array.from({ length: Math.ceil(seeds / size) }, (_, i) => ({
    kind,
    firstSeed: first + i * size,
    seeds: Math.min(size, seeds - i * size),
  }));
}

function keyOf({ commit, kind, firstSeed, seeds }: Share & { readonly commit: string }): string {
  return `${commit} ${kind} ${firstSeed} ${seeds}`;
}
