import type { MountLine } from "./mount-line.ts";
import { synonymsOfNfs } from "./option-table.ts";

/** mount(8): these options stand for others, which later ones override. */
const implied: ReadonlyMap<string, readonly string[]> = new Map([
  ["user", ["noexec", "nosuid", "nodev"]],
  ["users", ["noexec", "nosuid", "nodev"]],
  ["owner", ["nosuid", "nodev"]],
  ["group", ["nosuid", "nodev"]],
]);

/** Options of which one excludes the other, beside those that differ by "no" or by what is behind "=". */
const sameChoice: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ...{ nfsvers: "vers", soft: "hard", softerr: "hard", rw: "ro", async: "sync", fg: "bg", mds_namespace: "fs" },
    ...{ uquota: "usrquota", gquota: "grpquota", pquota: "prjquota" },
  }),
);

/** PURE. The options that count: of two that exclude each other the last one, as for mount(8) and the kernel. */
export function effectiveOptions({ type, options }: MountLine): readonly string[] {
  const isNfs = type === "nfs" || type === "nfs4";
  const all = options
    .flatMap((option) => [option, ...(implied.get(option) ?? [])])
    .map((option) => (isNfs ? (synonymsOfNfs.get(option) ?? option) : option));
  const byChoice = new Map(all.map((option) => [choiceOf(option), option]));
  // The kernel has one of three, in this order, whatever comes last.
  const times = ["strictatime", "noatime", "relatime"].filter((option) => byChoice.get(choiceOf(option)) === option);
  return [...byChoice.values()].filter((option) => !times.slice(1).includes(option));
}

function choiceOf(option: string): string {
  const name = nameOf(option);
  const positive = name.replace(/^no(?=.)/, "");
  return sameChoice.get(name) ?? sameChoice.get(positive) ?? positive;
}

/** PURE. What is before "=". */
export function nameOf(option: string): string {
  return option.split("=", 1)[0] ?? "";
}
