import { need } from "../lib/requirements.ts";
import { Bench } from "./bench.ts";
import { cases } from "./cases.ts";
import { points } from "./points.ts";

/** Where children start from source, which takes ten times as long: from bundles. */
async function bundleChildren(): Promise<void> {
  if (process.env["NODEVOLUME_CHILD"] !== undefined) return;
  const { buildPrograms } = await import("../../hack/lib/agent-on-kernel/programs.ts");
  process.env["NODEVOLUME_CHILD"] = (await buildPrograms()).child;
}

for (const of of cases) {
  const { title, needs = [], open } = of;
  describe(`plugin contract: ${title}`, function () {
    const allow = (suite: Mocha.Suite | Mocha.Context, ms: number) => suite.timeout(Math.max(suite.timeout(), ms));
    allow(this, open === undefined ? 60_000 : 120_000); // of a server that is shared with a busy machine
    let bench: Bench | undefined;
    let shared: AsyncDisposable | undefined;
    const leave = async () => {
      const left = bench;
      bench = undefined;
      await left?.[Symbol.asyncDispose]();
    };

    before(async function () {
      need(this, "root", ...needs);
      allow(this, 180_000);
      await bundleChildren();
      shared = await open?.(this);
    });
    after(async () => {
      await leave();
      await shared?.[Symbol.asyncDispose]();
    });
    afterEach(async function () {
      if (this.currentTest?.state !== "passed") await leave();
    });

    for (const point of points.filter(({ asks }) => asks === undefined || asks(of))) {
      it(point.title, async function () {
        if (point.slow) allow(this, 600_000);
        if (point.alone) await leave();
        bench ??= await Bench.on(of);
        await point.holds(bench);
        if (point.alone) await leave();
      });
    }
  });
}
