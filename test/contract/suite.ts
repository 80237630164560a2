import { release } from "node:os";
import { noteOn } from "../../hack/lib/lanes/note.ts";
import { slow } from "../../hack/lib/lanes/slow.ts";
import { sourceType } from "../../src/plugins/registry.ts";
import { full, need } from "../lib/asserts/requirements.ts";
import { Bench } from "./bench.ts";
import type { Case, Parts } from "./case.ts";
import { partsOf } from "./parts.ts";
import type { Point } from "./point.ts";
import { points } from "./points.ts";

/** What docs/plugin-results.md says of it. */
function noteOf({ of, source }: Bench, { name }: Point, parts: Parts, how?: string): object {
  const kernel = `Linux ${release()}`;
  return { contract: { case: of.title, type: sourceType(source), point: name, ...parts, kernel, ...(how && { how }) } };
}

function isAsked({ name, asks }: Point, of: Case): boolean {
  return (asks === undefined || asks(of)) && (full() || of.onlyFull?.includes(name) !== true);
}

/** A test of each point that can be asked of the case. */
export function contractOf(of: Case): void {
  const { title, needs = [], open } = of;
  describe(`plugin contract: ${title}`, function () {
    const allow = (suite: Mocha.Suite | Mocha.Context, ms: number) => suite.timeout(Math.max(suite.timeout(), ms));
    allow(this, open === undefined ? 60_000 : 120_000); // of a server that is shared with a busy machine
    let bench: Bench | undefined;
    let shared: AsyncDisposable | undefined;
    let parts: Parts = { client: "" };
    const leave = async () => {
      const left = bench;
      bench = undefined;
      await left?.[Symbol.asyncDispose]();
    };

    before(async function () {
      need(this, "root", ...needs);
      allow(this, 180_000);
      shared = await open?.(this);
      parts = await partsOf(of);
    });
    after(async () => {
      await leave();
      await shared?.[Symbol.asyncDispose]();
    });
    afterEach(async function () {
      if (this.currentTest?.state !== "passed") await leave();
    });

    for (const point of points.filter((one) => isAsked(one, of))) {
      const test: typeof slow = point.slow ? slow : it;
      test(point.title, async function (this: Mocha.Context) {
        if (point.slow) allow(this, 600_000);
        if (point.alone) await leave();
        bench ??= await Bench.on(of);
        const { withoutSchema } = of;
        if (!withoutSchema) noteOn(this, noteOf(bench, point, parts));
        const how = await point.holds(bench);
        if (how !== undefined && !withoutSchema) noteOn(this, noteOf(bench, point, parts, how));
        if (point.alone) await leave();
      });
    }
  });
}
