import { nameOf } from "./effective-options.ts";
import type { MountLine } from "./mount-line.ts";
import { type Meaning, ofMount, ofType, type Row } from "./option-table.ts";

/** What the options of a line come to in a set. */
export interface Judged {
  /** For mounts[].mountOptions. */
  readonly flags: readonly string[];
  /** For volume.mountOptions, if the API allows the value. */
  readonly volume: readonly Wanted[];
  readonly notes: readonly string[];
  /** Why no set is made. */
  readonly refused?: string;
}

/** A mount option that the set must have. */
export interface Wanted {
  readonly option: string;
  /** Without it no set may be made. */
  readonly needed: boolean;
}

/** PURE. @param options those that count, see effectiveOptions */
export function judgeOptions(line: MountLine, options: readonly string[]): Judged {
  const rows = [...(line.bind ? [] : (ofType.get(line.type) ?? [])), ...ofMount];
  const flags: string[] = [];
  const volume: Wanted[] = [];
  const notes: string[] = [];
  const refused: string[] = [];
  for (const option of options) {
    const { meaning, why } = verdictOn(option, rows, line.byKernel);
    if (isLogin(line, option)) continue;
    if (meaning === "flag") flags.push(option);
    if (meaning === "kept" || meaning === "needed") volume.push({ option, needed: meaning === "needed" });
    if (meaning === "told") notes.push(`${shownOption(line, option, why)} is left out: ${why}`);
    if (meaning === "refused") refused.push(`option ${nameOf(option)}: ${why}`);
  }
  return { flags, volume, notes, ...(refused[0] !== undefined && { refused: refused[0] }) };
}

const unknown = "export does not know it: check whether the set needs it";

/** By name and value before by name, and what the file system says of it before mount(8). */
function verdictOn(option: string, rows: readonly Row[], byKernel: boolean): { meaning: Meaning; why: string } {
  const rowOf = (key: string) => rows.find(([, options]) => options.split(" ").includes(key));
  const row = rowOf(option) ?? rowOf(nameOf(option));
  if (row === undefined) return { meaning: "told", why: unknown };
  const [meaning, , why = "a set has no such option"] = row;
  if (meaning === "reported") return { meaning: byKernel ? "harmless" : "told", why };
  if (meaning === "written") return { meaning: byKernel ? "harmless" : "kept", why };
  return { meaning, why };
}

/**
 * Never a value. The name of an unknown option only if it looks like one, and is not behind a secret: a password with a
 * comma in it looks like an option and others behind it.
 */
function shownOption(line: MountLine, option: string, why: string): string {
  const at = line.options.indexOf(option);
  const firstSecret = line.options.findIndex((one) => isLogin(line, one) || isSecret(one));
  const isWord = /^[a-zA-Z][a-zA-Z_.-]{0,31}$/.test(nameOf(option));
  const isShown = why !== unknown || (isWord && (firstSecret === -1 || at <= firstSecret));
  return isShown ? `option ${nameOf(option)}` : `option ${at + 1} of the line, which could be part of a password,`;
}

function isSecret(option: string): boolean {
  return option.includes("=") && /pass|pwd|secret|cred|token|key|auth/i.test(nameOf(option));
}

/** PURE. Whether an option says who mounts the file system, or with what. */
export function isLogin({ type, bind }: MountLine, option: string): boolean {
  const rows = bind ? undefined : ofType.get(type);
  const name = nameOf(option).toLowerCase();
  const names = (rows ?? []).flatMap(([meaning, keys]) => (meaning === "login" ? keys.split(" ") : []));
  if (!option.includes("=")) return false;
  // mount.cifs(8) takes whatever begins like one, and older kernels take capitals.
  return names.includes(name) || (names.includes("password") && /^(user|pass|cred|dom|workg)/.test(name));
}
