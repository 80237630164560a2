import { expect } from "chai";
import { slow } from "../../hack/lib/lanes/slow.ts";
import { figuresOf } from "../../hack/proof/kills/figures.ts";
import { runKills } from "../../hack/proof/kills/run-kills.ts";
import { full, need } from "../lib/asserts/requirements.ts";

/** NODEVOLUME_KILL_SEED takes one that was printed. */
const seed = Number(process.env["NODEVOLUME_KILL_SEED"] || Math.floor(Math.random() * 2 ** 31));
const kills = Number(process.env["NODEVOLUME_KILLS"] || (full() ? 10_000 : 500));
/** Without, the test would say nothing: kinds of work in the middle of which an agent was killed. */
const work = ["announced, not yet mounted", "staging", "unstaging", "unmounted, not yet forgotten"];

describe("agents that are killed at random while real volumes come and go", () => {
  before(function () {
    need(this, "root");
  });

  slow("lose, stack and leak nothing", async function () {
    this.timeout(120_000 + kills * 4_000);
    console.log(`      ${kills} kills, NODEVOLUME_KILL_SEED=${seed}`);
    const shared = { nodes: 4, withChildren: full() ? 4 : 1, settleEvery: 125 };
    const figures = await runKills({ ...shared, kills, seed, report: (line) => console.log(`      ${line}`) });
    for (const line of figuresOf(figures)) console.log(`      ${line}`);
    expect(figures.violations).to.deep.equal([]);
    expect([...figures.phases.keys()]).to.include.members(work);
    expect(figures.afterEvents, "kills right after a journal write or a mount").to.be.above(kills / 20);
  });
});
