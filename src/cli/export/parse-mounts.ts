/** A line of a node's fstab, or of its mount table. */
export interface MountLine {
  /** fstab's first field; of a mount table what is mounted, for a bind the directory on the node. */
  readonly source: string;
  readonly target: string;
  readonly type: string;
  readonly options: readonly string[];
  /** A directory or file of the node itself, mounted a second time. */
  readonly bind: boolean;
  /** Where it stands in the file. */
  readonly line: number;
}

export interface MountFile {
  readonly kind: "fstab" | "mountinfo";
  readonly lines: readonly MountLine[];
  /** Lines that cannot be read, by number. */
  readonly unread: readonly number[];
}

/** PURE. An fstab (also /proc/mounts), or a mountinfo: which of the two is told by its lines. */
export function parseMounts(text: string): MountFile {
  const lines = text.split("\n").map((content, at) => ({ content: content.trim(), line: at + 1 }));
  const filled = lines.filter(({ content }) => content !== "" && !content.startsWith("#"));
  const isTable = filled.length > 0 && filled.every(({ content }) => /^\d+ \d+ \d+:\d+ /.test(content));
  return isTable ? parseTable(filled) : parseFstab(filled);
}

type Line = { readonly content: string; readonly line: number };

function parseFstab(lines: readonly Line[]): MountFile {
  const unread: number[] = [];
  const found = lines.flatMap(({ content, line }): MountLine[] => {
    const [source, target, type, options = "defaults"] = content.split(/\s+/).map(unescaped);
    if (source === undefined || target === undefined || type === undefined) {
      unread.push(line);
      return [];
    }
    const list = options.split(",").filter((option) => option !== "");
    return [{ source, target, type, options: list, bind: list.some((o) => o === "bind" || o === "rbind"), line }];
  });
  return { kind: "fstab", lines: found, unread };
}

interface Entry extends MountLine {
  readonly device: string;
  readonly root: string;
}

/** mountinfo: id parent major:minor root target options [optional fields] - type source options. */
function parseTable(lines: readonly Line[]): MountFile {
  const unread: number[] = [];
  const entries = lines.flatMap(({ content, line }): Entry[] => {
    const [before = "", behind = ""] = content.split(" - ", 2);
    const [, , device = "", root = "/", target = "", options = ""] = before.split(" ").map(unescaped);
    const [type, source, more = ""] = behind.split(" ").map(unescaped);
    if (type === undefined || source === undefined || target === "") {
      unread.push(line);
      return [];
    }
    const list = [...new Set([...options.split(","), ...more.split(",")])].filter(
      (option) => option !== "" && option !== "rw",
    );
    return [{ device, root, source, target, type, options: list, bind: false, line }];
  });
  return { kind: "mountinfo", lines: entries.map((entry, at) => asBind(entry, entries.slice(0, at))), unread };
}

/** What shows a part of a file system that is mounted elsewhere, or all of it a second time, is a bind of that. */
function asBind(entry: Entry, before: readonly Entry[]): MountLine {
  const { device, root, ...line } = entry;
  const from = before.find(
    (one) => one.device === device && (root === one.root || root.startsWith(one.root === "/" ? "/" : `${one.root}/`)),
  );
  if (from === undefined || (root === from.root && isNetwork(line.type))) return line;
  const rest = from.root === "/" ? root : root.slice(from.root.length);
  const source = `${from.target === "/" ? "" : from.target}${rest === "/" ? "" : rest}`;
  return { ...line, source: source === "" ? "/" : source, bind: true };
}

function isNetwork(type: string): boolean {
  return /^(nfs4?|cifs|smb3|ceph|(fuse\.)?glusterfs)$/.test(type);
}

/** Both files write a blank as \040, and so on. */
function unescaped(field: string): string {
  return field.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}
