import { execFileSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import { loopDevice } from "./loop-device.ts";

/** Sectors of a disk: the first, and how many. */
export type Sectors = readonly [first: number, count: number];

const run = (program: string, ...args: string[]) => execFileSync(program, args, { stdio: "pipe", encoding: "utf8" });

/** A disk of device-mapper's flakey on a loop device in memory, whose sectors fail when they are told to. */
export class FlakeyDisk implements Disposable {
  readonly path: string;
  readonly #directory = mkdtempSync("/run/nvo-flakey-");
  readonly #name: string;
  readonly #beneath: ReturnType<typeof loopDevice>;
  readonly #sectors: number;

  constructor(name: string, megabytes: number) {
    this.#name = name;
    this.#beneath = loopDevice(this.#directory, "disk", megabytes);
    this.#sectors = Number(run("blockdev", "--getsz", this.#beneath.path));
    run("dmsetup", "create", name, "--table", this.#table());
    this.path = realpathSync(join("/dev/mapper", name));
  }

  /** Sectors that can neither be read nor written from now on; none: all of it works. */
  fail(...sectors: Sectors[]): void {
    run("dmsetup", "suspend", "--noflush", "--nolockfs", this.#name);
    run("dmsetup", "load", this.#name, "--table", this.#table(sectors));
    run("dmsetup", "resume", this.#name);
  }

  failAll(): void {
    this.fail([0, this.#sectors]);
  }

  /** What lies between those that fail works all the time. */
  #table(failing: readonly Sectors[] = []): string {
    const lines: string[] = [];
    let at = 0;
    const line = (count: number, up: number, down: number) => {
      if (count > 0) lines.push(`${at} ${count} flakey ${this.#beneath.path} ${at} ${up} ${down}`);
      at += count;
    };
    for (const [first, count] of failing) {
      line(first - at, 3600, 0);
      line(count, 0, 3600);
    }
    line(this.#sectors - at, 3600, 0);
    return lines.join("\n");
  }

  [Symbol.dispose](): void {
    this.fail();
    run("dmsetup", "remove", "--retry", this.#name);
    this.#beneath[Symbol.dispose]();
    rmSync(this.#directory, { recursive: true });
  }
}
