import { join } from "node:path";
import { socketOf } from "../../../hack/lib/csi/paths.ts";
import { layout, type PretendHost } from "../../../hack/lib/pretend-node/node.ts";

export interface SanityResult {
  readonly passed: number;
  /** Specs that were chosen; those that did not pass or fail need something that the driver has not. */
  readonly chosen: number;
  /** Its whole output, if anything failed. */
  readonly failures: string;
}

/** Bytes: small, because drivers take what is asked for; but not less than a file system needs. */
const sizes = { volume: 20 * 1024 * 1024, expanded: 40 * 1024 * 1024 };

/** Runs csi-sanity on the host of a pretended node against a driver that runs beside it. */
export async function runSanity(
  host: PretendHost,
  program: string,
  driver: string,
  accessType: "mount" | "block",
): Promise<SanityResult> {
  const places = join(layout.kubeletDir, "sanity");
  await host.run("mkdir", "-p", places);
  return sanityRun(host, program, [
    `--csi.endpoint=${socketOf(driver)}`,
    `--csi.mountdir=${join(places, "target")}`,
    `--csi.stagingdir=${join(places, "staging")}`,
    // Its own default is 10 GiB, which a driver of block volumes takes from the disk.
    `--csi.testvolumesize=${sizes.volume}`,
    `--csi.testvolumeexpandsize=${sizes.expanded}`,
    `--csi.testvolumeaccesstype=${accessType}`,
  ]);
}

/** Runs it with flags of one's own. */
export async function sanityRun(host: PretendHost, program: string, flags: readonly string[]): Promise<SanityResult> {
  const all = [...flags, "--ginkgo.no-color"];
  const output = await host.run(program, ...all).catch((error: { stdout?: string }) => error.stdout ?? String(error));
  const [, passed, failed] = /-- (\d+) Passed \| (\d+) Failed/.exec(output) ?? [];
  const [, chosen] = /Will run (\d+) of/.exec(output) ?? [];
  return { passed: Number(passed ?? 0), chosen: Number(chosen ?? 0), failures: failed === "0" ? "" : output };
}
