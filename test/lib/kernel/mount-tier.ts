import { skipBecause } from "../../../hack/lib/lanes/skip-reason.ts";
import { silent } from "../../../hack/lib/silent-log.ts";
import { messageOf } from "../../../src/errors.ts";
import { allTiers, LinuxMountTable } from "../../../src/host/linux/mount-table/linux-mount-table.ts";
import type { MountTier } from "../../../src/host/mount-table/mount-table-source.ts";
import { realSystem } from "../../../src/system.ts";

/** Skips the test by name if the kernel cannot keep a mount table in this way. */
export async function needTier(context: Mocha.Context, tier: MountTier): Promise<void> {
  const lacking = await whyNot(tier);
  if (lacking !== undefined) skipBecause(context, `needs the ${tier} tier: ${lacking}`);
}

/** The ways in which this kernel can keep a mount table, best first. The last, mountinfo, every kernel has. */
export async function tiersHere(): Promise<MountTier[]> {
  const found: MountTier[] = [];
  for (const tier of allTiers) if ((await whyNot(tier)) === undefined) found.push(tier);
  return found;
}

async function whyNot(tier: MountTier): Promise<string | undefined> {
  const table = new LinuxMountTable("self", realSystem(silent), [tier]);
  try {
    await table.read();
    return undefined;
  } catch (error) {
    return messageOf(error);
  } finally {
    table.close();
  }
}
