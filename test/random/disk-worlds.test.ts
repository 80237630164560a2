import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { slow, slowInGate } from "../../hack/lib/lanes/slow.ts";
import { childOf } from "../lib/disk-worlds/child-of.ts";
import { type Content, makeContents } from "../lib/disk-worlds/contents.ts";
import { runWorlds, togetherOf } from "../lib/disk-worlds/run-worlds.ts";
import { Somebody } from "../lib/disk-worlds/somebody.ts";
import { troubles } from "../lib/disk-worlds/trouble.ts";
import { type Shown, World } from "../lib/disk-worlds/world.ts";
import { full, need } from "../lib/requirements.ts";

/** NODEVOLUME_DISK_SEED takes one that was printed, and NODEVOLUME_DISK_WORLDS says how many come from it. */
const firstSeed = Number(process.env["NODEVOLUME_DISK_SEED"] || Math.floor(Math.random() * 2 ** 31));
const asked = Number(process.env["NODEVOLUME_DISK_WORLDS"] || 0);

/** Without these, the worlds would say nothing. */
const needed = [...Object.keys(troubles), "given away", "mkfs ends by itself", "mkfs is cut off", "a pod writes"];
const ofTheAgent = ["done", "DeviceBusy", "DeviceNotEmpty", "DiskNotFound"].map((reason) => `stage: ${reason}`);

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
    const childBefore = process.env["NODEVOLUME_CHILD"];

    before(async () => {
      process.env["NODEVOLUME_CHILD"] = await childOf([]);
      directory = mkdtempSync(join(tmpdir(), "nvo-disks-"));
      somebody = new Somebody();
      contents = await makeContents(directory, somebody);
    });
    after(async () => {
      if (childBefore === undefined) delete process.env["NODEVOLUME_CHILD"];
      else process.env["NODEVOLUME_CHILD"] = childBefore;
      await somebody?.[Symbol.asyncDispose]();
      if (directory !== undefined) rmSync(directory, { recursive: true });
    });

    slowInGate("in six worlds", async () => {
      for (let seed = firstSeed; seed < firstSeed + 6; seed++)
        unharmed(await new World(seed, somebody, contents, 0).run());
    });
  });

  slow("nor in many more worlds", async function () {
    const count = asked || (full() ? 500 : 60);
    this.timeout(120_000 + count * 6_000);
    const worlds = await runWorlds({ firstSeed, count, beside: Math.min(4, availableParallelism()) });
    const happened = togetherOf(worlds);
    for (const line of [...happened].map(([what, times]) => `${what}: ${times}`).sort()) console.log(`      ${line}`);
    for (const shown of worlds) unharmed(shown);
    expect(worlds).to.have.length(count);
    if (count >= 500) expect([...happened.keys()]).to.include.members([...needed, ...ofTheAgent]);
  });
});
