import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { slow, slowInGate } from "../../hack/lib/lanes/slow.ts";
import { root } from "../../hack/lib/root.ts";
import { need } from "../lib/asserts/requirements.ts";
import { type Guard, guards } from "../lib/disk-worlds/guards.ts";
import { mostWorlds, worldsUntilHarm } from "../lib/disk-worlds/worlds-until-harm.ts";

const firstSeed = Number(process.env["NODEVOLUME_DISK_SEED"] || Math.floor(Math.random() * 2 ** 31));

/** The gate sees harm without one of them: that the checker sees any, and who opens a disk is what most depends on. */
const ofTheGate = "processes that have it open or mapped";

describe("what keeps other people's disks from harm", () => {
  before(function () {
    need(this, "root", "loop-devices", "mkfs.ext4", "ext4", "python3");
  });

  for (const guard of guards) {
    const { name, edits } = guard;
    it(`${name}: stands where it is taken away`, () => {
      for (const { file, from } of edits)
        expect(readFileSync(join(root, file), "utf8").split(from), `${file}: ${from}`).to.have.length(2);
    });

    const title = `without it worlds that are about it show harm: ${name}`;
    if (name === ofTheGate) slowInGate(title, showsHarm(guard));
    else
      slow(title, function () {
        need(this, "full");
        return showsHarm(guard).call(this);
      });
  }

  function showsHarm(guard: Guard) {
    return async function (this: Mocha.Context) {
      this.timeout(120_000 + mostWorlds * 6_000);
      const { worlds, harm } = await worldsUntilHarm(guard, firstSeed);
      console.log(`      ${worlds} worlds, from seed ${firstSeed}: ${harm ?? "no harm"}`);
      expect(harm).to.not.equal(undefined);
    };
  }
});
