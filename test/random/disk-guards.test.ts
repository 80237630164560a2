import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { slow } from "../../hack/lib/lanes/slow.ts";
import { root } from "../../hack/lib/root.ts";
import { guards } from "../lib/disk-worlds/guards.ts";
import { runWorlds } from "../lib/disk-worlds/run-worlds.ts";
import { need } from "../lib/requirements.ts";

/** Worlds in which each was found, with room to spare: docs/proof.md says in how many. */
const most = 400;
const firstSeed = Number(process.env["NODEVOLUME_DISK_SEED"] || Math.floor(Math.random() * 2 ** 31));

describe("what keeps other people's disks from harm", () => {
  before(function () {
    need(this, "root", "loop-devices", "mkfs.ext4", "ext4", "python3");
  });

  for (const { name, edits } of guards) {
    it(`${name}: stands where it is taken away`, () => {
      for (const { file, from } of edits)
        expect(readFileSync(join(root, file), "utf8").split(from), `${file}: ${from}`).to.have.length(2);
    });

    slow(`without it random worlds show harm: ${name}`, async function () {
      need(this, "full");
      this.timeout(120_000 + most * 6_000);
      const beside = Math.min(4, availableParallelism());
      const worlds = await runWorlds({ firstSeed, count: most, beside, edits });
      const harmed = worlds.filter(({ harm }) => harm.length > 0);
      console.log(`      ${worlds.length} worlds, from seed ${firstSeed}: ${harmed[0]?.harm[0] ?? "no harm"}`);
      expect(harmed).to.not.deep.equal([]);
    });
  }
});
