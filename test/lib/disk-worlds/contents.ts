import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import type { Randomly } from "../builders/randomly.ts";
import type { Somebody } from "./somebody.ts";

const MiB = 1024 * 1024;
/** What somebody writes at once. */
export const piece = 4096;

/** Of a file system of somebody's: volumes ask for it. */
export const somebodysLabel = "somebodys";

/** What may stand on a disk, as a file that is copied there. */
export interface Content {
  readonly path: string;
  readonly contents: "data" | "fileSystem";
  /** The disk has to be as large. */
  readonly bytes: number;
  /** Where data stands that has to stay. */
  readonly places: readonly (readonly [at: number, length: number])[];
  readonly label?: string;
}

/** Made once for all worlds: file systems with a file, one that has lost its beginning, swap and LUKS. */
export async function makeContents(directory: string, somebody: Somebody): Promise<Content[]> {
  mkdirSync(directory, { recursive: true });
  const text = randomBytes(16 * 1024);
  mkdirSync(`${directory}/files`);
  writeFileSync(`${directory}/files/table`, text);
  const ext = async (name: string, megabytes: number, ...options: string[]) => {
    const type = name === "ext3" ? "ext3" : "ext4";
    const path = `${directory}/${name}`;
    await somebody.ask("make", { path, size: megabytes * MiB });
    // The kernel has nothing left to write there while somebody has it mounted.
    const whole = ["-E", "lazy_itable_init=0,lazy_journal_init=0"];
    execFileSync("mke2fs", ["-q", "-F", "-t", type, ...whole, "-d", `${directory}/files`, ...options, path]);
    const at = await somebody.ask("find", { path, text: text.subarray(0, 512).toString("hex") });
    if (at === null) throw new Error(`${path} does not show where its file is`);
    return { path, bytes: megabytes * MiB, places: [[at, text.length]] as const };
  };
  const headless = await ext("headless", 12, "-b", "1024");
  writeFileSync(headless.path, Buffer.alloc(MiB), { flag: "r+" });
  const large = await ext("headless-large", 150, "-b", "4096");
  writeFileSync(large.path, Buffer.alloc(5 * MiB), { flag: "r+" });
  const swap = `${directory}/swap`;
  await somebody.ask("make", { path: swap, size: 4 * MiB });
  execFileSync("mkswap", [swap], { stdio: "ignore" });
  const luks = `${directory}/luks`;
  const header = Buffer.alloc(4096);
  header.write("LUKS\xba\xbe\0\x01aes", "latin1");
  header.write("3f9a1f1e-0d3c-4c55-9d25-1c6a5e9a7f00", 168, "latin1");
  writeFileSync(luks, header);
  const whole = (path: string) =>
    ({ path, contents: "data", bytes: 4 * MiB, places: [[0, piece]] as const }) satisfies Content;
  return [
    { ...(await ext("ext4", 10, "-L", somebodysLabel)), contents: "fileSystem", label: somebodysLabel },
    { ...(await ext("ext4-other", 8, "-b", "1024")), contents: "fileSystem" },
    // It is none that anybody asks for: people give it away.
    { ...(await ext("ext3", 9, "-b", "1024")), contents: "fileSystem" },
    // Copies of the superblock, and what its file has, are all that is left of it.
    { ...headless, contents: "data", places: [[8193 * 1024, 1024], ...headless.places.filter(([at]) => at >= MiB)] },
    { ...large, contents: "data", places: [[32_768 * 4096, 1024]] },
    whole(swap),
    whole(luks),
  ];
}

/** Devices up to so many bytes are read whole. */
const readWhole = 128 * MiB;

/** A place of a piece of data that the documentation says is looked at: docs/sources.md, "looks empty". */
export function anyPlace(size: number, randomly: Randomly): number {
  const page = (at: number) => Math.floor(at / piece) * piece;
  if (size <= readWhole) return page(randomly.below(size - piece));
  const known = [
    randomly.below(4 * MiB - piece),
    size - 4 * MiB + randomly.below(4 * MiB - piece),
    64 * MiB,
    128 * MiB,
    (randomly.below(256) * size) / 256,
  ];
  return page(Math.min(randomly.one(known), size - piece));
}

export function anyData(): string {
  return randomBytes(piece).toString("hex");
}
