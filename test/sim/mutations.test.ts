import { availableParallelism } from "node:os";
import { expect } from "chai";
import { slowSuite } from "../../hack/lib/lanes/slow.ts";
import { lawsToBreak } from "./mutations/breakers.ts";
import { mutations } from "./mutations/list.ts";
import { type Probed, runProbe } from "./mutations/run-probe.ts";

const share = mutations.filter(({ noticedBy }) => noticedBy !== undefined);

slowSuite("the simulator, with the product broken on purpose", function () {
  this.timeout(30 * 60_000);
  const outcomes = new Map<string, Promise<Probed>>();

  before(() => {
    const waiting = share.map((mutation) => ({ mutation, result: Promise.withResolvers<Probed>() }));
    for (const { mutation, result } of waiting) {
      result.promise.catch(() => {}); // told of by the test that waits for it
      outcomes.set(mutation.name, result.promise);
    }
    const work = async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const { file, from, to, also, noticedBy } = next.mutation;
        const edits = [{ file, from, to }, ...(also === undefined ? [] : [also])];
        await runProbe({ edits, hint: noticedBy, hintOnly: true }).then(next.result.resolve, next.result.reject);
      }
    };
    for (let i = 0; i < availableParallelism(); i++) void work();
  });

  it("has every law broken", () => {
    expect(lawsToBreak.filter((law) => !share.some((mutation) => mutation.law === law))).to.deep.equal([]);
  });

  it("notices nothing where nothing is broken", async () => {
    const [first] = share;
    const { noticed, what } = await runProbe({ edits: [], hint: first?.noticedBy, hintOnly: true });
    expect(noticed, what).to.equal(false);
  });

  for (const { law, name } of share) {
    it(`notices, of ${law}: ${name}`, async () => {
      const { noticed, what } = (await outcomes.get(name)) ?? { noticed: false, what: "not run" };
      console.log(`      ${what.slice(0, 160)}`);
      expect(noticed, what).to.equal(true);
    });
  }
});
