import { skipBecause } from "../../hack/lib/lanes/skip-reason.ts";
import { messageOf } from "../../src/errors.ts";
import { LinuxMountTable } from "../../src/host/linux/linux-mount-table.ts";
import type { MountTier } from "../../src/host/mount-table-source.ts";
import { realSystem } from "../../src/system.ts";
import { silent } from "./silent-log.ts";

/** Skips the test by name if the kernel cannot keep a mount table in one of these ways. */
export async function needTiers(context: Mocha.Context, ...tiers: readonly MountTier[]): Promise<void> {
  for (const tier of tiers) {
    const table = new LinuxMountTable("self", realSystem(silent), [tier]);
    try {
      await table.read();
    } catch (error) {
      skipBecause(context, `needs the ${tier} tier: ${messageOf(error)}`);
    } finally {
      table.close();
    }
  }
}
