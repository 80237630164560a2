import { expect } from "chai";
import { slow } from "../../hack/lib/lanes/slow.ts";
import { figuresOf } from "../../hack/proof/soak/figures.ts";
import { runSoak } from "../../hack/proof/soak/run-soak.ts";
import { full, need } from "../lib/asserts/requirements.ts";

/** NODEVOLUME_SOAK_SEED takes one that was printed. */
const seed = Number(process.env["NODEVOLUME_SOAK_SEED"] || Math.floor(Math.random() * 2 ** 31));

describe("real volumes come and go on one agent", () => {
  before(function () {
    need(this, "root");
  });

  slow(
    "nothing is lost, stacked or leaked, descriptors and children are as before, and no Secret comes out",
    async function () {
      this.timeout(full() ? 75 * 60_000 : 120_000);
      console.log(`      NODEVOLUME_SOAK_SEED=${seed}`);
      const figures = await runSoak({
        ...(full() ? { ms: 60 * 60_000, paceMs: 100, restEvery: 100 } : { ms: 8_000, paceMs: 0, restEvery: 12 }),
        ...{ leastRests: 2, overlap: full() ? 0.5 : 0 },
        seed,
        report: (line) => console.log(`      ${line}`),
      });
      for (const line of figuresOf(figures)) console.log(`      ${line}`);
      const { fds, threads, children } = figures.series;
      expect(figures.violations).to.deep.equal([]);
      expect(figures.shown, "how often a Secret was shown to who refused it").to.be.above(0);
      // At rest there may be a spare child, with its pipes.
      for (const { value } of fds.slice(1)) expect(value, "descriptors").to.be.at.most((fds[0]?.value ?? 0) + 3);
      for (const { value } of threads.slice(1)) expect(value, "threads").to.be.at.most(threads[0]?.value ?? 0);
      for (const { value } of children) expect(value, "children").to.be.at.most(1);
      expect(figures.outputs.map(({ where }) => where)).to.have.members([...outputs]);
    },
  );
});

const outputs = ["log", "API", "metrics", "argv", "mountinfo", "journal", "state directory"] as const;
