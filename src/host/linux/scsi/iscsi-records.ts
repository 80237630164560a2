import type { ISCSICredentials } from "../../ports/iscsi.ts";

/** PURE. All that a record says of an interface but its name. */
export function interfaceLines(record: string): string[] {
  const lines = record.split("\n").map((line) => line.trim());
  return lines.filter((line) => /^iface\.(?!iscsi_ifacename )\S+ = (?!<empty>$)\S/.test(line));
}

/** Values of a record by name; undefined: the record is not to say it. */
export type Settings = readonly (readonly [name: string, value: string | undefined])[];

/** PURE. A record with other values of some of its settings. */
export function withSettings(record: string, settings: Settings): string {
  const changed = new Set(settings.map(([name]) => name));
  const lines = record.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  const kept = lines.filter((line) => !changed.has(line.split(" = ", 1)[0] ?? ""));
  return recordText([
    ...kept,
    ...settings.flatMap(([name, value]) => (value === undefined ? [] : `${name} = ${value}`)),
  ]);
}

/**
 * PURE. The settings of CHAP, as records of sessions and of discovery have them. Without credentials they turn it off:
 * what iscsid.conf has for all targets is sent to none.
 */
export function chapSettings(
  prefix: "node.session.auth" | "discovery.sendtargets.auth",
  credentials: ISCSICredentials | undefined,
): Settings {
  const back = credentials?.in;
  return [
    [`${prefix}.authmethod`, credentials === undefined ? "None" : "CHAP"],
    [`${prefix}.username`, credentials?.username],
    [`${prefix}.password`, credentials?.password],
    [`${prefix}.username_in`, back?.username],
    [`${prefix}.password_in`, back?.password],
  ];
}

/** PURE. */
export function recordText(lines: readonly string[]): string {
  return `# BEGIN RECORD 2.0\n${lines.join("\n")}\n# END RECORD\n`;
}
