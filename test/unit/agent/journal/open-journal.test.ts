import { expect } from "chai";
import { HealthChecks } from "../../../../src/agent/health/health-checks.ts";
import { openJournal } from "../../../../src/agent/journal/open-journal.ts";
import { virtualSystem } from "../../kube/virtual-system.ts";
import { FakeHost } from "../fake-host.ts";

describe("openJournal", () => {
  function failing() {
    const host = new FakeHost();
    const { read } = host.journal;
    host.journal.read = async () => {
      throw new Error("/state/journal: ENOSPC");
    };
    const mend = () => {
      host.journal.read = read;
    };
    return { host, mend };
  }

  it("stays and tries again, says once why in the log and always in the probe", async () => {
    const system = virtualSystem();
    const healthChecks = new HealthChecks(system.clock);
    const { host, mend } = failing();
    const opened = openJournal({ system, host, healthChecks, signal: undefined });
    await system.advance(60_000);
    expect(healthChecks.notReady()).to.include("/state/journal: ENOSPC");
    expect(system.lines).to.have.length(1);
    mend();
    await system.advance(5_000);
    expect((await opened)?.epoch).to.equal(1);
    expect(healthChecks.notReady()).not.to.include("journal");
  });

  it("ends when it is told to", async () => {
    const system = virtualSystem();
    const ending = new AbortController();
    const { host } = failing();
    const opened = openJournal({ system, host, healthChecks: new HealthChecks(system.clock), signal: ending.signal });
    await system.advance(1_000);
    ending.abort();
    expect(await opened).to.equal(undefined);
    expect(system.pendingTimers).to.equal(0);
  });
});

describe("HealthChecks", () => {
  it("is ready when nothing is missing, and names all that is", () => {
    const healthChecks = new HealthChecks(virtualSystem().clock);
    for (const need of ["lock", "journal", "intents"] as const) {
      expect(healthChecks.notReady()).to.include(need === "lock" ? "lock" : need);
      healthChecks.missing(need, undefined);
    }
    expect(healthChecks.notReady()).to.equal(undefined);
    healthChecks.missing("status", "a; reason");
    expect(healthChecks.notReady()).to.equal("a; reason");
  });

  it("is healthy until no look has ended for five minutes", async () => {
    const system = virtualSystem();
    const healthChecks = new HealthChecks(system.clock);
    await system.advance(3_600_000);
    expect(healthChecks.unhealthy(), "before the first look may begin").to.equal(undefined);
    healthChecks.looked();
    await system.advance(299_000);
    expect(healthChecks.unhealthy()).to.equal(undefined);
    await system.advance(1_000);
    expect(healthChecks.unhealthy()).to.equal("no look at the node has ended for 300 s");
  });
});
