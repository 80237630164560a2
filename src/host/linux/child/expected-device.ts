import { readFileSync, writeFileSync } from "node:fs";
import { unlessGone } from "../syscall/errno.ts";
import type { ExpectedDevice } from "./child-protocol.ts";

/** Whether a device of the kernel is still the one that was meant: its sysfs file shows the same text. */
export function isExpectedDevice({ file, text }: ExpectedDevice): boolean {
  return unlessGone(() => shownText(readFileSync(file, "utf8"))) === text;
}

/**
 * Tells the kernel about a device by its number, right after a look at whether that is still the device that is meant:
 * what is gone needs nothing.
 */
export function writeOf(meant: ExpectedDevice | undefined, file: string, text: string): void {
  if (meant === undefined || isExpectedDevice(meant)) writeFileSync(file, text);
}

/** The text that a device was mapped with, as the kernel shows it: the key that stands in that goes no further. */
export function shownText(configInfo: string): string {
  return configInfo.trim().replace(/,secret=[^, ]*/, "");
}
