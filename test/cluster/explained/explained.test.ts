import { expect } from "chai";
import { slowSuite } from "../../../hack/lib/lanes/slow.ts";
import { need } from "../../lib/asserts/requirements.ts";
import { type Block, blocksOf, readPage } from "../../lib/docs/blocks.ts";
import { carriedOut } from "../../lib/docs/carried-out.ts";
import { type DocsWorld, docsWorld, type ReaderPlace } from "../../lib/docs/world.ts";
import { clusterFaults } from "./cluster-faults.ts";
import { expectExplained, type Fault, type Staging, stagingIn, takeBack } from "./fault.ts";
import { volumeFaults } from "./volume-faults.ts";

const page = "docs/explained-faults.md";
const faults: readonly Fault[] = [...volumeFaults, ...clusterFaults];

/** Blocks of the page, by the heading above each. */
function blocksByHeading(): ReadonlyMap<string, Block> {
  const lines = readPage(page).split("\n");
  const headingOf = ({ line }: Block) => lines.slice(0, line).findLast((one) => one.startsWith("#")) ?? "";
  return new Map(blocksOf(page).map((block) => [headingOf(block).replace(/^#+ /, ""), block]));
}

// Each is staged for real, on nodes with agents and mounts of the kernel; then the page is typed, as a reader would.
slowSuite("faults explained in five lines: the cause, since when, and what to do", () => {
  const blocks = blocksByHeading();
  let docs: DocsWorld;
  let place: ReaderPlace;
  let together: Staging;
  /** What went wrong with the staging of a fault; undefined if nothing did. */
  const staged = new Map<Fault, Promise<unknown>>();

  before(async function () {
    docs = await docsWorld(this);
    place = docs.place();
    together = stagingIn(docs.world, place);
    for (const fault of faults.filter(({ alone }) => alone !== true))
      staged.set(
        fault,
        fault.stage(together).then(
          () => undefined,
          (error: unknown) => error,
        ),
      );
  });
  after(async () => {
    await Promise.all(staged.values());
    if (together !== undefined) await takeBack(together);
  });

  async function explained(fault: Fault): Promise<void> {
    const block = blocks.get(fault.title);
    if (block === undefined) throw new Error(`${page} has no block beneath ${fault.title}`);
    expectExplained(await carriedOut(docs, place, block), fault);
  }

  it("are twenty or more, each with a section of the page", () => {
    expect(faults.length).to.be.at.least(20);
    expect([...blocks.keys()].sort()).to.deep.equal(faults.map(({ title }) => title).sort());
  });

  for (const fault of faults)
    it(fault.title, async function () {
      need(this, ...(fault.needs ?? []));
      if (fault.alone !== true) {
        const wrong = await staged.get(fault);
        if (wrong !== undefined) throw wrong;
        await explained(fault);
        return;
      }
      const staging = stagingIn(docs.world, place);
      try {
        await fault.stage(staging);
        await explained(fault);
      } finally {
        await takeBack(staging);
      }
    });
});
