import { execFileSync } from "node:child_process";
import { availableParallelism } from "node:os";
import { root } from "../../../hack/lib/root.ts";
import type { SeedLedger, Share } from "./ledger.ts";
import { Pool } from "./pool.ts";

/** Tells these shares on all processors and writes down each when it is done; prints what failed. */
export async function tellAll(
  ledger: SeedLedger,
  left: readonly Share[],
  onTold: (share: Share) => void,
): Promise<void> {
  const pool = new Pool();
  const waiting = [...left];
  const work = async () => {
    for (let share = waiting.shift(); share !== undefined; share = waiting.shift()) {
      const outcome = await pool.run(share);
      ledger.add(share, outcome);
      for (const failure of outcome.failures) console.log(`\n${failure}\n`);
      onTold(share);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  await pool.close();
}

/** The commit; of a tree with changes a name that no other sitting has. */
export function commitOfSources(): string {
  const told = execFileSync("git", ["-C", root, "describe", "--always", "--abbrev=40", "--dirty"], {
    encoding: "utf8",
  });
  return told.trim().endsWith("-dirty") ? `${told.trim()}-${Date.now()}` : told.trim();
}
