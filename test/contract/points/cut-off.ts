import { expect } from "chai";
import { messageOf } from "../../../src/errors.ts";
import { full } from "../../lib/asserts/requirements.ts";
import { CutOff } from "../../lib/fakes/cut-off.ts";
import { Bench } from "../bench.ts";
import type { Case } from "../case.ts";
import type { Point } from "../point.ts";

/** Effects after which an agent is ended, where ending it after each takes too long, as in a VM: their numbers. */
const given = process.env["NODEVOLUME_CUT_OFFS"]?.split(",").map(Number);
/** How many are tried of a case that says that some are enough. */
const some = 3;

/** An agent that ends after each effect by which the volume is set up, and after each by which it is released. */
export const cutOff: Point = {
  name: "cut off",
  title: "an agent that ends after any of its effects leaves what the next one finishes, and the same for its release",
  alone: true,
  slow: true,
  async holds(bench) {
    const { of } = bench;
    const whole = given === undefined ? await lifeOf(bench, Number.POSITIVE_INFINITY) : undefined;
    const most = whole && Math.max(whole.effects.setUp, whole.effects.release);
    const ends = given ?? chosen(most ?? 0, full() ? undefined : of.cutOffs);
    for (const last of ends) {
      await using other = await Bench.on(of);
      const life = await lifeOf(other, last).catch((error: unknown) => {
        throw new Error(`ended after effect ${last}: ${messageOf(error)}`, { cause: error });
      });
      const { setUp, release } = life.effects;
      expect(Math.max(setUp, release), `it was ended after effect ${last}`).to.be.at.least(last);
      if (whole) expect(life.mounts, `mounts, when it had ended after effect ${last}`).to.deep.equal(whole.mounts);
    }
    return most === undefined ? `${ends.length}` : `${ends.length} of ${most}`;
  },
};

/** Numbers of effects, from 1. */
function chosen(most: number, share: Case["cutOffs"]): number[] {
  const count = Math.min(most, share === "some" ? some : (share ?? most));
  return Array.from({ length: count }, (_, index) => Math.ceil(((index + 1) * most) / (count + (share ? 1 : 0))));
}

/** The volume is set up and released by agents of which the first ends after the same effect each time. */
async function lifeOf(bench: Bench, last: number) {
  const { node } = bench;
  const setUp = await endsAfter(bench, last);
  await bench.setUp();
  const mounts = node
    .mounts()
    .map(({ point, fsType, options }) => ({ point: point.slice(node.path.length), fsType, options }));
  await node.restart();
  const release = await endsAfter(bench, last, { deleting: true });
  const volume = await bench.release();
  expect(volume.phase, volume.failure?.message).to.equal("released");
  await bench.isGone();
  return { mounts, effects: { setUp, release } };
}

/** @returns how many effects there were */
async function endsAfter(bench: Bench, last: number, more: { deleting?: true } = {}): Promise<number> {
  const { node } = bench;
  const cut = new CutOff(last);
  node.host = cut.of(node.host);
  node.want(bench.intent(more));
  try {
    await node.converge();
  } catch (error) {
    if (!cut.ended) throw error; // it is the agent that has ended
  }
  await node.restart();
  await bench.settle();
  return cut.effects.length;
}
