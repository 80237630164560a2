import { globSync, readFileSync } from "node:fs";

/** Of the image, in that role. */
export function processOf(role: string): string {
  const found = globSync("/proc/[0-9]*/cmdline").find((file) => textOf(file).includes(`/app/main.cjs\0${role}\0`));
  if (found === undefined) throw new Error(`there is no process ${role}`);
  return found.split("/")[2] ?? "";
}

/** "" of a process that has ended meanwhile, or a device that has gone. */
export function textOf(file: string): string {
  try {
    return readFileSync(file, "latin1");
  } catch (error) {
    if (["ENOENT", "ESRCH", "ENXIO", "ENODEV"].includes((error as NodeJS.ErrnoException).code ?? "")) return "";
    throw error;
  }
}
