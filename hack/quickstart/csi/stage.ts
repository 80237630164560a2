import type { CSIStorage } from "../../lib/csi/storage.ts";
import type { Demo } from "../demo.ts";
import type { Screen } from "../screen.ts";
import { namespace } from "./beside.ts";
import type { Chronicle } from "./chronicle.ts";

/** What each part of the demonstration works on. */
export interface Stage {
  readonly demo: Demo;
  readonly chronicle: Chronicle;
  readonly storage: CSIStorage;
  readonly screen: Screen;
  readonly signal: AbortSignal;
}

/** Runs kubectl, and shows the command and what it says as people would see them. */
export async function typed({ demo, screen }: Stage, ...args: string[]): Promise<void> {
  screen.step(`kubectl ${args.map(quoted).join(" ")}`);
  screen.block(await demo.kubectl.run(args));
}

/** What came true since the last beginning. */
export function tell({ chronicle, screen }: Stage): void {
  for (const line of chronicle.lines()) screen.note(line);
}

/** Flag of kubectl. */
export const inNamespace = `--namespace=${namespace}`;

/** Milliseconds; each takes seconds at most. */
export const patience = 60_000;

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word}'`;
}
