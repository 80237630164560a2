import { expect } from "chai";
import { Debounce } from "../../../../src/agent/health/debounce.ts";
import { virtualSystem } from "../../kube/virtual-system.ts";

describe("Debounce", () => {
  const story = () => {
    const system = virtualSystem();
    const calls: number[] = [];
    const quiet = new Debounce(system, 1_000, () => calls.push(system.clock.monotonic()));
    return { system, calls, quiet };
  };

  it("calls once when nothing was noted for the time, and not again until something is", async () => {
    const { system, calls, quiet } = story();
    const start = system.clock.monotonic();
    quiet.note();
    await system.advance(700);
    quiet.note();
    await system.advance(900);
    expect(calls).to.deep.equal([]);
    await system.advance(60_000);
    expect(calls).to.deep.equal([start + 1_700]);
    quiet.note();
    await system.advance(1_000);
    expect(calls).to.have.length(2);
  });

  it("calls nothing after stop", async () => {
    const { system, calls, quiet } = story();
    quiet.note();
    quiet.stop();
    await system.advance(5_000);
    expect(calls).to.deep.equal([]);
  });
});
