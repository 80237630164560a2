import { execFileSync } from "node:child_process";
import { closeSync, openSync, readSync, writeFileSync } from "node:fs";

/** An empty disk and one with data, two loop devices, that can change names: each gets the other's file. */
export class ChangingDisks implements Disposable {
  /** Of the empty one, and of that with data, until they are swapped. */
  readonly paths: readonly [string, string];
  readonly #files: readonly [string, string];
  readonly #length: number;

  /** @param data at the beginning of one of them, without a signature, as no tool knows it */
  constructor(directory: string, bytes: number, data: string) {
    this.#length = data.length;
    this.#files = [`${directory}/empty`, `${directory}/data`];
    for (const file of this.#files) execFileSync("truncate", ["-s", `${bytes}`, file]);
    writeFileSync(this.#files[1], data, { flag: "r+" });
    const attach = (file: string) => execFileSync("losetup", ["--find", "--show", file], { encoding: "utf8" }).trim();
    this.paths = [attach(this.#files[0]), attach(this.#files[1])];
  }

  swap(): void {
    for (const path of this.paths) execFileSync("losetup", ["--detach", path]);
    execFileSync("losetup", [this.paths[0], this.#files[1]]);
    execFileSync("losetup", [this.paths[1], this.#files[0]]);
  }

  /** What stands where the data was. */
  get data(): string {
    return startOf(this.#files[1], this.#length);
  }

  [Symbol.dispose](): void {
    for (const path of this.paths) execFileSync("losetup", ["--detach", path]);
  }
}

/** The first bytes of a file or device. */
export function startOf(path: string, length: number): string {
  const fd = openSync(path, "r");
  const text = Buffer.alloc(length);
  readSync(fd, text, 0, length, 0);
  closeSync(fd);
  return text.toString("latin1");
}
