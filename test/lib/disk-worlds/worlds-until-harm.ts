import { availableParallelism } from "node:os";
import type { Guard } from "./guards.ts";
import { runWorlds, type Worlds } from "./run-worlds.ts";

/**
 * Of worlds that are about a guard, so many show harm without it, with room to spare: docs/proof.md says after how
 * many.
 */
export const mostWorlds = 100;

/**
 * Lives in worlds without one guard until one shows harm.
 * @param report is told now and then how far they are
 * @returns how many there were until then, and what it was
 */
export async function worldsUntilHarm(
  { edits, focus }: Guard,
  firstSeed: number,
  most = mostWorlds,
  report?: Worlds["report"],
): Promise<{ readonly worlds: number; readonly harm: string | undefined }> {
  const beside = Math.min(4, availableParallelism());
  const worlds = await runWorlds({ firstSeed, count: most, beside, edits, focus, ...(report && { report }) });
  const harmed = worlds.find(({ harm }) => harm.length > 0);
  return { worlds: worlds.length, harm: harmed?.harm[0] };
}
