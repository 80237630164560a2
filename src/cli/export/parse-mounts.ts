import { decoded, notUtf8, splitOptions, tidy } from "./fields.ts";
import type { MountFile, MountLine, RawLine } from "./mount-line.ts";
import { parseMountinfo } from "./parse-mountinfo.ts";

/** PURE. An fstab, /proc/mounts or mountinfo, as its lines show; read byte by byte, as libmount and the kernel do. */
export function parseMounts(file: string | Uint8Array): MountFile {
  const bytes = typeof file === "string" ? Buffer.from(file) : Buffer.from(file);
  const filled = bytes
    .toString("latin1")
    .split("\n")
    .map((content, at): RawLine => ({ content: content.replace(/\r$/, ""), line: at + 1 }))
    .filter(({ content }) => /^[ \t]*[^ \t#]/.test(content));
  const isTable = filled.length > 0 && filled.every(({ content }) => /^\d+ \d+ \d+:\d+ /.test(content));
  const { kind, lines, unread } = isTable ? parseMountinfo(filled) : parseFstab(filled);
  return { kind, lines: lines.map((line) => amongOthers(line, lines)), unread };
}

function parseFstab(raw: readonly RawLine[]): MountFile {
  const unread: number[] = [];
  const byKernel = isOfKernel(raw);
  const found = raw.flatMap(({ content, line }): MountLine[] => {
    const fields = content.split(/[ \t]+/).filter((field) => field !== "");
    const [source, target, type] = fields.map(decoded);
    // mount(8) ignores a line whose fifth or sixth field is no number: mostly it has a blank too many.
    const isRead = fields.slice(4, 6).every((field) => /^[+-]?\d+$/.test(field));
    if (!isRead || source === undefined || target === undefined || type === undefined) {
      unread.push(line);
      return [];
    }
    // fstab's options are decoded as a whole; the kernel escapes a comma that separates nothing.
    const options = fields[3] ?? "";
    const list = byKernel ? splitOptions(options)?.map(decoded) : splitOptions(decoded(options));
    const bind = list?.some((option) => option === "bind" || option === "rbind") === true;
    return [
      {
        source: bind ? tidy(source) : source,
        target: tidy(target),
        type,
        options: list ?? [],
        bind,
        line,
        byKernel,
        ...(list === undefined && { unfit: "a quote in its options is not closed" }),
      },
    ];
  });
  return { kind: byKernel ? "/proc/mounts" : "fstab", lines: byKernel ? found.map(withoutRoot) : found, unread };
}

/** The kernel begins all options with rw or ro, and some lines are of a file system that no fstab needs to name. */
function isOfKernel(raw: readonly RawLine[]): boolean {
  return (
    raw.every(({ content }) => / (rw|ro)(,[^ ]*)? 0 0$/.test(content)) &&
    raw.some(({ content }) => / (proc|sysfs|devtmpfs|cgroup2) (rw|ro)/.test(content))
  );
}

/** /proc/mounts shows the same line for a file system and for a bind of any directory in it. */
function withoutRoot(line: MountLine, _at: number, all: readonly MountLine[]): MountLine {
  const count = all.filter(({ source }) => source === line.source).length;
  return count > 1 && line.source.startsWith("/")
    ? {
        ...line,
        unfit: `${count} mounts are of this source, and /proc/mounts does not show of which directories: export /proc/1/mountinfo`,
      }
    : line;
}

/** What keeps a line from being a set because of its text, or of the lines beside it. */
function amongOthers(line: MountLine, all: readonly MountLine[]): MountLine {
  if (line.unfit !== undefined) return line;
  if (notUtf8(line.source, line.target)) return { ...line, unfit: "its name is not UTF-8" };
  const above = all.findLast(({ target }) => target === line.target);
  return above === undefined || above === line || !line.target.startsWith("/")
    ? line
    : { ...line, unfit: `line ${above.line} mounts on the same path, over it` };
}
