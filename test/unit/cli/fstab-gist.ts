import { convert } from "../../../src/cli/export/convert.ts";
import { parseMounts } from "../../../src/cli/export/parse-mounts.ts";

/**
 * What export makes of each line, as one line: the source, options of the volume and the mount, and notes about
 * options.
 */
export function gist(fstab: string): string[] {
  const { lines, unread } = parseMounts(fstab);
  const made = lines.map((line) => {
    const one = convert(line, new Set(), undefined);
    if (one.kind === "none") return `${line.target}: no set: ${one.reason}`;
    const { volume, mounts } = one.set.spec;
    const [{ path, readOnly = false, mountOptions = [] } = { path: "" }] = mounts;
    const flags = [...(readOnly ? ["ro"] : []), ...mountOptions].join();
    const options = (volume.mountOptions ?? []).join();
    const told = one.notes.filter((note) => note.startsWith("option")).map((note) => `# ${note}`);
    const source = JSON.stringify(volume.source).replaceAll('"', "");
    return [`${path}: ${source}`, options && `[${options}]`, flags && `(${flags})`, ...told].filter(Boolean).join(" ");
  });
  return [...made, ...unread.map((line) => `line ${line} is not read`)];
}
