import { skipBecause } from "../../../hack/lib/lanes/skip-reason.ts";
import { locateXfsprogs, type Xfsprogs } from "../../../hack/lib/tools/xfsprogs.ts";
import { need } from "../asserts/requirements.ts";

/** Skips the test, or from a before hook its suite, by name, where no xfs can be made or mounted. */
export async function needXfsprogs(context: Mocha.Context): Promise<Xfsprogs> {
  need(context, "root", "loop-devices", "xfs");
  const found = await locateXfsprogs({ env: process.env, report: (line) => console.log(`  ${line}`) });
  if ("missing" in found) skipBecause(context, found.missing);
  return found;
}
