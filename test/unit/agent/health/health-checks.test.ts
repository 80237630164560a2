import { expect } from "chai";
import { HealthChecks } from "../../../../src/agent/health/health-checks.ts";
import { virtualSystem } from "../../kube/virtual-system.ts";

describe("HealthChecks", () => {
  function started() {
    const { clock, advance } = virtualSystem();
    const healthChecks = new HealthChecks(clock);
    healthChecks.missing("lock", undefined);
    healthChecks.missing("journal", undefined);
    return { healthChecks, advance };
  }

  it("asks why the intents are not there when somebody looks, not before", () => {
    const { healthChecks } = started();
    let why: string | undefined = "nodevolumeintents: 403 forbidden";
    healthChecks.needs("intents", () => why);
    expect(healthChecks.notReady()).to.equal("nodevolumeintents: 403 forbidden");
    why = undefined;
    expect(healthChecks.notReady()).to.equal(undefined);
  });

  it("names all that is missing", () => {
    const { clock } = virtualSystem();
    expect(new HealthChecks(clock).notReady()?.split("; ")).to.have.length(3);
  });

  it("is unhealthy when looks have begun and none ends for five minutes", async () => {
    const { healthChecks, advance } = started();
    await advance(1_000_000);
    expect(healthChecks.unhealthy(), "before the first").to.equal(undefined);
    healthChecks.looked();
    await advance(299_000);
    expect(healthChecks.unhealthy()).to.equal(undefined);
    await advance(1_000);
    expect(healthChecks.unhealthy()).to.equal("no look at the node has ended for 300 s");
  });
});
