import { decoded, splitOptions, tidy } from "./fields.ts";
import type { MountFile, MountLine, RawLine } from "./mount-line.ts";

const network = /^(nfs4?|cifs|smb3|ceph|(fuse\.)?glusterfs)$/;

interface Entry extends MountLine {
  readonly device: string;
  /** The directory of the file system that is mounted. */
  readonly root: string;
  /** Options of the file system, of which a bind has only the first ones. */
  readonly superOptions: readonly string[];
}

/** PURE. mountinfo: id parent major:minor root target options [optional fields] - type source options. */
export function parseMountinfo(raw: readonly RawLine[]): MountFile {
  const unread: number[] = [];
  const entries = raw.flatMap(({ content, line }): Entry[] => {
    // Exactly one blank separates fields: one may be empty, and a source may be "-".
    const fields = content.split(" ");
    const dash = fields.indexOf("-", 6);
    const [, , device = "", root = "/", target = ""] = fields.map(decoded);
    const [type, source] = fields.slice(dash + 1).map(decoded);
    const own = splitOptions(fields[5] ?? "")?.map(decoded);
    const ofSuper = splitOptions(fields[dash + 3] ?? "")?.map(decoded);
    if (dash === -1 || type === undefined || source === undefined || own === undefined || ofSuper === undefined) {
      unread.push(line);
      return [];
    }
    return [
      {
        ...{ device, root, source, target: tidy(target), type, superOptions: ofSuper },
        ...{ options: own, bind: false, line, byKernel: true },
      },
    ];
  });
  return { kind: "mountinfo", lines: entries.map((entry) => lineOf(entry, entries)), unread };
}

/** Where agents stage volumes and keep what they make themselves, and where drivers stage for them. */
const agents = /\/nodevolume\/(staging|data)\/|\/plugins\/nodevolume\.dev\//;

/** Where an agent has staged it before it was mounted here. Who has mounted it before is no agent. */
function stagedAt(entry: Entry, all: readonly Entry[]): string | undefined {
  return all
    .slice(0, all.indexOf(entry))
    .find(
      ({ device, root, target }) =>
        device === entry.device && agents.test(target) && (entry.root === root || isPartOf(entry.root, root)),
    )?.target;
}

function isPartOf(root: string, of: string): boolean {
  return of === "/" ? root !== "/" : root.startsWith(`${of}/`);
}

/** A mount of a part of a file system that is mounted elsewhere, or of all of it a second time, is a bind of that. */
function lineOf(entry: Entry, all: readonly Entry[]): MountLine {
  const { device: _, root, superOptions, ...line } = entry;
  const isReadOnly = [...line.options, ...superOptions].includes("ro");
  const withSuper = (options: readonly string[]) => [
    ...new Set([...options.filter((option) => option !== "rw" && option !== "ro"), ...(isReadOnly ? ["ro"] : [])]),
  ];
  const whole = { ...line, options: withSuper([...line.options, ...superOptions]) };
  if (root.endsWith("//deleted")) return { ...whole, unfit: "the directory that it shows has been removed" };
  const source = bindSource(entry, all);
  const ofAgent = stagedAt(entry, all) ?? (source !== undefined && agents.test(source) ? source : undefined);
  if (ofAgent !== undefined) return { ...whole, unfit: `an agent mounted it from ${ofAgent} there, for a set` };
  const isWhole = root === "/" || isNamedBy(line.source, root);
  if (isWhole && network.test(line.type)) return whole;
  if (source !== undefined) return { ...line, options: withSuper(line.options), source, bind: true };
  return isWhole
    ? whole
    : { ...whole, unfit: `only ${root} of its file system is mounted: a set would show another directory` };
}

/** A directory of a CIFS share that was mounted as such: source names share and directory, root the directory. */
function isNamedBy(source: string, root: string): boolean {
  return source.endsWith(root) && /^\/\/[^/]+\/[^/]+$/.test(source.slice(0, -root.length));
}

/** Where else on the node the same is to be seen. */
function bindSource(entry: Entry, all: readonly Entry[]): string | undefined {
  const at = all.indexOf(entry);
  for (const [place, from] of all.entries()) {
    if (from.device !== entry.device || from === entry) continue;
    const isPart = isPartOf(entry.root, from.root);
    if (!isPart && (from.root !== entry.root || place > at)) continue;
    const path = tidy(`${from.target}/${entry.root.slice(from.root.length)}`);
    if (mountOf(path, all) === from) return path;
  }
  return undefined;
}

/** The mount that a path leads to. */
function mountOf(path: string, all: readonly Entry[]): Entry | undefined {
  const above = all.filter(({ target }) => target === "/" || path === target || path.startsWith(`${target}/`));
  const longest = Math.max(...above.map(({ target }) => target.length));
  return above.findLast(({ target }) => target.length === longest);
}
