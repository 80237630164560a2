import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { slow, slowInGate } from "../../hack/lib/lanes/slow.ts";
import { full, need } from "../lib/asserts/requirements.ts";
import { type Content, makeContents } from "../lib/disk-worlds/contents.ts";
import { runWorlds, togetherOf } from "../lib/disk-worlds/run-worlds.ts";
import { Somebody } from "../lib/disk-worlds/somebody.ts";
import { troubles } from "../lib/disk-worlds/trouble.ts";
import { type Shown, World } from "../lib/disk-worlds/world.ts";

/** NODEVOLUME_DISK_SEED takes one that was printed, and NODEVOLUME_DISK_WORLDS says how many come from it. */
const firstSeed = Number(process.env["NODEVOLUME_DISK_SEED"] || Math.floor(Math.random() * 2 ** 31));
const asked = Number(process.env["NODEVOLUME_DISK_WORLDS"] || 0);
const inGate = 5;

/** An agent that does nothing harms nobody: without these the worlds would say nothing. */
const ofTheAgent = ["done", "DeviceBusy", "DeviceNotEmpty", "DiskNotFound"].map((reason) => `stage: ${reason}`);
/** Nor would they without these: all of them are in many worlds alone. */
const ofMany = [
  ...Object.keys(troubles),
  ...["given away", "mkfs ends by itself", "mkfs is cut off", "an mkfs leaves its rest", "a pod writes"],
];

describe("disks of other people, in random worlds on the real kernel", function () {
  this.timeout(120_000);

  before(function () {
    need(this, "root", "loop-devices", "mkfs.ext4", "ext4", "python3");
  });

  function unharmed({ seed, harm, story }: Shown): void {
    expect(harm, [`NODEVOLUME_DISK_SEED=${seed}`, ...story].join("\n    ")).to.deep.equal([]);
  }

  describe("not one byte of theirs is changed, whatever they do between two steps of the agent", () => {
    let directory: string | undefined;
    let somebody: Somebody;
    let contents: readonly Content[];

    before(async () => {
      directory = mkdtempSync(join(tmpdir(), "nvo-disks-"));
      somebody = new Somebody();
      contents = await makeContents(directory, somebody);
    });
    after(async () => {
      await somebody?.[Symbol.asyncDispose]();
      if (directory !== undefined) rmSync(directory, { recursive: true });
    });

    slowInGate("in five worlds, in the first of which it is known what the agent does", async () => {
      const plain = await new World(firstSeed, { somebody, contents, place: 0, plain: true }).run();
      unharmed(plain);
      // An empty disk, one with data, one that somebody has open and one by a second name, and one that is not there.
      const expected = { done: 1, DeviceNotEmpty: 1, DeviceBusy: 2, DiskNotFound: 1 };
      const stages = [...plain.happened].filter(([what]) => what.startsWith("stage: "));
      expect(Object.fromEntries(stages.map(([what, times]) => [what.slice("stage: ".length), times]))).to.deep.equal(
        expected,
      );
      for (let seed = firstSeed; seed < firstSeed + inGate - 1; seed++)
        unharmed(await new World(seed, { somebody, contents, place: 0 }).run());
    });
  });

  slow("nor in many more worlds", async function () {
    const count = asked || (full() ? 500 : 36);
    this.timeout(120_000 + count * 6_000);
    const report = (line: string) => console.log(`      ${line}`);
    const beside = Math.min(4, availableParallelism());
    const worlds = await runWorlds({ firstSeed, count, beside, ...(count >= 100 && { report }) });
    const happened = togetherOf(worlds);
    for (const line of [...happened].map(([what, times]) => `${what}: ${times}`).sort()) console.log(`      ${line}`);
    for (const shown of worlds) unharmed(shown);
    expect(worlds).to.have.length(count);
    if (count >= 30) expect([...happened.keys()]).to.include.members(ofTheAgent);
    if (count >= 500) expect([...happened.keys()]).to.include.members(ofMany);
  });
});
