import { readFileSync } from "node:fs";

/** Another one after each boot of the machine. */
export function bootID(): string {
  return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
}
