import { mkdtempSync, rmdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { slow } from "../../hack/lib/lanes/slow.ts";
import { silent } from "../../hack/lib/silent-log.ts";
import { realSystem } from "../../src/system.ts";
import { full, need } from "../lib/asserts/requirements.ts";
import { difference, type Pair, shrink } from "../sim/differential/compare.ts";
import { randomScript } from "../sim/differential/generate.ts";
import { RealKernel } from "../sim/differential/real-kernel.ts";
import { realKernelWorld } from "../sim/differential/real-kernel-world.ts";
import { simKernelWorld } from "../sim/differential/sim-kernel-world.ts";
import { SeededRandom } from "../sim/random.ts";
import { Sightings } from "../sim/sightings.ts";

const operationsEach = 12;
/** Sequences in which every outcome comes up. */
const enough = 2_000;
const first = Number(process.env["NODEVOLUME_SIM_FIRST_SEED"] ?? 1);
const count = Number(process.env["NODEVOLUME_SIM_SEEDS"] ?? (full() ? 20_000 : 2_000));

/** What a run must have met, by operation: a rule that holds because its case never occurs proves nothing. */
const expectedOutcomes: { readonly [operation: string]: readonly string[] } = {
  inspect: ["directory", "file", "nothing"],
  makeSource: ["ok"],
  inspectTarget: ["directory", "nothing"],
  makeTarget: ["ok", "ForeignMountInPath", "SymlinkInPath", "TargetNotDirectory", "TargetNotFile"],
  removeTarget: ["ok", "ForeignMountInPath", "SymlinkInPath"],
  bind: ["ok", "ForeignMount", "SetUpFailed", "TargetNotDirectory"],
  mountTmpfs: ["ok", "ForeignMount", "OptionsRefused"],
  setAttributes: ["ok", "TargetChanged"],
  reconfigure: ["ok"],
  unmount: ["ok", "TargetBusy", "TargetChanged", "ForeignMountInPath"],
  holders: ["host", "agent", "container", "nobody"],
  mountedOn: ["container", "nobody"],
  users: ["used", "unused"],
  makeDirectory: ["ok"],
  identify: ["found", "nothing"],
  writePayload: ["written", "the"],
  removeDirectory: ["ok"],
  discard: ["ok"],
  emptyTrash: ["ok", "TearDownFailed"],
  unshareHost: ["ok"],
  startContainer: ["ok"],
  endContainer: ["ok"],
  ...inEach(["host", "agent"], {
    mkdir: ["ok", "EEXIST", "ENOENT"],
    mknod: ["ok", "EEXIST"],
    symlink: ["ok", "EEXIST"],
    write: ["ok", "EISDIR", "EROFS"],
    rmdir: ["ok", "EBUSY", "ENOTEMPTY", "ENOTDIR"],
    unlink: ["ok", "EISDIR", "EROFS"],
    rename: ["ok", "EXDEV", "EROFS", "ENOTEMPTY"],
    foreignTmpfs: ["ok", "ENOTDIR"],
    foreignBind: ["ok", "ENOTDIR"],
    move: ["ok", "EINVAL"],
    umount: ["ok", "EBUSY", "EINVAL"],
    remount: ["ok", "EINVAL"],
    propagation: ["ok", "EINVAL"],
    open: ["ok", "ENOENT"],
    letGo: ["ok"],
  }),
  ...inEach(["container"], { write: ["ok"], foreignTmpfs: ["ok"], open: ["ok"], umount: ["ok", "EBUSY"] }),
};

function inEach(places: readonly string[], outcomes: { readonly [operation: string]: readonly string[] }) {
  const named = places.flatMap((place) =>
    Object.entries(outcomes).map(([operation, of]) => [`${operation} in ${place}`, of] as const),
  );
  return Object.fromEntries(named);
}

describe("the simulated kernel", () => {
  let base: string | undefined;

  afterEach(() => {
    if (base !== undefined) rmdirSync(base); // not what is in it: by now nothing is, or a mount is left
    base = undefined;
  });

  slow("does and shows what the real one does, whatever the agent and people do", async function () {
    need(this, "root");
    this.timeout(30 * 60_000);
    base = mkdtempSync(join(tmpdir(), "nvo-differential-"));
    const sightings = new Sightings();
    const { timers } = realSystem(silent);
    {
      await using kernel = await RealKernel.at(base);
      for (let seed = first; seed < first + count; seed++) {
        const random = new SeededRandom(seed, "differential");
        const place = random.chance(0.6) ? "pod" : "host";
        const pair: Pair = {
          place,
          sightings,
          real: () => realKernelWorld(kernel, place, timers),
          simulated: () => simKernelWorld(place, new SeededRandom(seed, "simulated")),
        };
        const found = await difference(pair, randomScript(random, operationsEach));
        if (found === undefined) continue;
        const { operations, text } = await shrink(pair, found);
        const told = operations.map((operation) => `  ${JSON.stringify(operation)}`).join("\n");
        throw new Error(`seed ${seed}, agent in ${place}:\n${told}\n${text}`);
      }
    }
    console.log(`    ${count} sequences of ${operationsEach} operations, and what came of them:\n${sightings}`);
    const expected = Object.entries(expectedOutcomes).flatMap(([operation, of]) =>
      of.map((one) => `${operation}: ${one}`),
    );
    if (count >= enough) expect(sightings.missing(expected), "never reached").to.deep.equal([]);
  });
});
