import { expect } from "chai";
import { slow } from "../../hack/lib/lanes/slow.ts";
import { figuresOf } from "../../hack/proof/hung/figures.ts";
import { runHung } from "../../hack/proof/hung/run-hung.ts";
import { full, need } from "../lib/asserts/requirements.ts";

/** As child-slots.ts has it, and the spare one. */
const mostHelpers = 28 + 1;

describe("half of a node's volumes hang", () => {
  before(function () {
    need(this, "root", "fuse");
  });

  slow("others go on, no volume has two helpers, all heal, and no Secret comes out", async function () {
    this.timeout(full() ? 20 * 60_000 : 120_000);
    const figures = await runHung({
      size: full() ? { volumes: 100, hung: 50 } : { volumes: 20, hung: 10, deadlineMs: 3_000 },
      hungMs: full() ? 10 * 60_000 : 8_000,
      ...{ baselineMs: 1_000, paceMs: 0, control: false },
      report: (line) => console.log(`      ${line}`),
    });
    for (const line of figuresOf(figures)) console.log(`      ${line}`);
    const [before, after] = figures.rest;
    expect(figures.violations).to.deep.equal([]);
    expect(figures.cycles.during.length, "volumes that came and went meanwhile").to.be.above(5);
    expect(figures.most.ofAVolume, "helpers of a volume, that were seen").to.equal(1);
    expect(figures.most.requestsOfAServer, "requests of a server, that were seen").to.equal(1);
    expect(figures.most.all).to.be.at.most(mostHelpers);
    for (const wrong of ["nothing", "Released"])
      expect([...figures.waits.keys()], "what hung volumes say").to.not.include(wrong);
    expect(after.fds, "descriptors").to.be.at.most(before.fds + 3); // pipes of the spare child
    expect(after.threads, "threads").to.be.at.most(before.threads);
    expect(figures.outputs.map(({ where }) => where)).to.have.members([...outputs]);
  });
});

const outputs = ["log", "API", "metrics", "argv", "mountinfo", "state directory"] as const;
