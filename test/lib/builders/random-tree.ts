import {
  chmodSync,
  lchownSync,
  linkSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  rmdirSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import type { SeededRandom } from "../../sim/random.ts";

/**
 * The bytes of UTF-8, as latin1; one needs more than the first field of a tar header. Others are refused (layer-names).
 */
const names = ["a", "b", "c", "with blank", "caf\xc3\xa9", "long".repeat(40), ".hidden", "wh.a"] as const;
const modes = [0o755, 0o700, 0o644, 0o4755, 0o640, 0o1777, 0o2755, 0o400] as const;
const owners = [0, 1000, 2_000_000] as const;
/** Seconds since 1970. */
const times = [-12, 0, 1, 1_000_000_000.25, 1_400_000_000] as const;

/** Changes what is in a directory at random, as who makes one more layer of an image does. */
export function changeTree(root: string, random: SeededRandom, changes: number): void {
  for (let change = 0; change < changes; change++) {
    const all = entriesOf(root);
    const directories = ["", ...all.filter((path) => kindOf(root, path) === "directory")];
    const path = join(random.pick(directories), random.pick(names));
    const old = all.length === 0 ? undefined : random.pick(all);
    const files = all.filter((of) => kindOf(root, of) === "file" && of !== path && !of.startsWith(`${path}/`));
    switch (
      random.pick([
        "file",
        "file",
        "file",
        "directory",
        "directory",
        "link",
        "hardLink",
        "remove",
        "again",
        "look",
      ] as const)
    ) {
      case "file":
        remove(root, path);
        writeFileSync(at(root, path), random.uuid().repeat(random.pick([0, 1, 1, 2, 40])));
        if (random.chance(0.1)) truncateSync(at(root, path), random.pick([1, 100_000]));
        dress(root, path, random);
        break;
      case "directory":
        if (kindOf(root, path) !== "directory") {
          remove(root, path);
          mkdirSync(at(root, path));
        }
        dress(root, path, random);
        break;
      case "link":
        remove(root, path);
        symlinkSync(
          Buffer.from(random.pick(["", "/", "../", "../../../"]) + random.pick(names), "latin1"),
          at(root, path),
        );
        dress(root, path, random);
        break;
      case "hardLink":
        if (files.length === 0) break;
        remove(root, path);
        linkSync(at(root, random.pick(files)), at(root, path));
        break;
      case "remove":
        if (old !== undefined) remove(root, old);
        break;
      case "again": // what a layer says by an opaque whiteout, or by one of each name
        if (old === undefined || kindOf(root, old) !== "directory") break;
        remove(root, old);
        mkdirSync(at(root, old));
        writeFileSync(at(root, join(old, random.pick(names))), "again");
        break;
      case "look":
        if (old !== undefined) dress(root, old, random);
    }
  }
}

/** Owner, mode and time. */
function dress(root: string, path: string, random: SeededRandom): void {
  const of = at(root, path);
  if (random.chance(0.5)) lchownSync(of, random.pick(owners), random.pick(owners));
  if (kindOf(root, path) !== "link") chmodSync(of, random.pick(modes));
  const time = random.pick(times);
  lutimesSync(of, time, time);
}

function entriesOf(root: string, path = ""): string[] {
  return (readdirSync(at(root, path), { encoding: "latin1" }) as string[]).sort().flatMap((name) => {
    const of = join(path, name);
    return kindOf(root, of) === "directory" ? [of, ...entriesOf(root, of)] : [of];
  });
}

function kindOf(root: string, path: string): "file" | "directory" | "link" | undefined {
  const stat = lstatSync(at(root, path), { throwIfNoEntry: false });
  if (stat === undefined) return undefined;
  return stat.isDirectory() ? "directory" : stat.isSymbolicLink() ? "link" : "file";
}

/** As rmSync, which takes no names that are not UTF-8. */
function remove(root: string, path: string): void {
  const kind = kindOf(root, path);
  if (kind === undefined) return;
  if (kind !== "directory") {
    unlinkSync(at(root, path));
    return;
  }
  for (const name of readdirSync(at(root, path), { encoding: "latin1" }) as string[]) remove(root, join(path, name));
  rmdirSync(at(root, path));
}

function join(above: string, name: string): string {
  return above === "" ? name : `${above}/${name}`;
}

function at(root: string, path: string): Buffer {
  return Buffer.from(`${root}/${path}`, "latin1");
}
