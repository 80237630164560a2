import { readFileSync, writeFileSync } from "node:fs";
import type { MeantDevice } from "../child/child-protocol.ts";
import { unlessGone } from "../syscall/errno.ts";
import { shownText } from "./rbd-text.ts";

/** Whether a device of the kernel is still the one that was meant: its sysfs file shows the same text. */
export function isMeant({ file, text }: MeantDevice): boolean {
  return unlessGone(() => shownText(readFileSync(file, "utf8"))) === text;
}

/**
 * Tells the kernel about a device by its number, right after a look at whether that is still the device that is meant:
 * what is gone needs nothing.
 */
export function writeOf(meant: MeantDevice | undefined, file: string, text: string): void {
  if (meant === undefined || isMeant(meant)) writeFileSync(file, text);
}
