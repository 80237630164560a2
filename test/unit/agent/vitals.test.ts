import { expect } from "chai";
import { Vitals } from "../../../src/agent/vitals.ts";
import { virtualSystem } from "../kube/virtual-system.ts";

describe("Vitals", () => {
  function started() {
    const { clock, advance } = virtualSystem();
    const vitals = new Vitals(clock);
    vitals.missing("lock", undefined);
    vitals.missing("journal", undefined);
    return { vitals, advance };
  }

  it("asks why the intents are not there when somebody looks, not before", () => {
    const { vitals } = started();
    let why: string | undefined = "nodevolumeintents: 403 forbidden";
    vitals.needs("intents", () => why);
    expect(vitals.notReady()).to.equal("nodevolumeintents: 403 forbidden");
    why = undefined;
    expect(vitals.notReady()).to.equal(undefined);
  });

  it("names all that is missing", () => {
    const { clock } = virtualSystem();
    expect(new Vitals(clock).notReady()?.split("; ")).to.have.length(3);
  });

  it("is unhealthy when looks have begun and none ends for five minutes", async () => {
    const { vitals, advance } = started();
    await advance(1_000_000);
    expect(vitals.unhealthy(), "before the first").to.equal(undefined);
    vitals.looked();
    await advance(299_000);
    expect(vitals.unhealthy()).to.equal(undefined);
    await advance(1_000);
    expect(vitals.unhealthy()).to.equal("no look at the node has ended for 300 s");
  });
});
