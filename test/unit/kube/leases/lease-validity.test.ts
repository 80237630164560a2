import { expect } from "chai";
import {
  agentLateSeconds,
  agentLeaseSeconds,
  type LeaseSpec,
  leaseValidity,
  leaseValidityAt,
} from "../../../../src/kube/leases/lease.ts";

describe("leaseValidity", () => {
  it("is late after a third of the duration, and expired after it: an agent's as its Events say", () => {
    const states = [0, agentLateSeconds * 1_000 - 1, agentLateSeconds * 1_000, agentLeaseSeconds * 1_000 - 1].map(
      (ms) => leaseValidity(agentLeaseSeconds, ms).state,
    );
    expect(states).to.deep.equal(["live", "live", "late", "late"]);
    const expired = { state: "expired", expiredForMs: 0, lateForMs: 120_000 };
    expect(leaseValidity(agentLeaseSeconds, agentLeaseSeconds * 1_000)).to.deep.equal(expired);
    expect(leaseValidity(15, 1_000)).to.deep.equal({ state: "live", expiredForMs: -14_000, lateForMs: -4_000 });
  });
});

describe("leaseValidityAt", () => {
  const now = Date.parse("2026-03-01T12:00:00Z");
  const spec = { holderIdentity: "n", leaseDurationSeconds: 180, renewTime: "2026-03-01T11:57:00.000000Z" };
  const state = (more: LeaseSpec, allowanceMs?: number) =>
    leaseValidityAt({ metadata: { name: "n" }, spec: { ...spec, ...more } }, now, allowanceMs).state;

  it("goes by the time that the Lease names, less what our clock may be ahead", () => {
    expect([state({}), state({}, 1), state({}, 121_000)]).to.deep.equal(["expired", "late", "live"]);
    expect(state({ renewTime: "2026-03-01T12:00:30.000000Z" }), "of a clock that is ahead of ours").to.equal("live");
  });

  it("has expired where there is none, nobody holds it, it was never renewed, or names no duration", () => {
    const fresh = { renewTime: "2026-03-01T11:59:59.000000Z" };
    expect(state(fresh)).to.equal("live");
    expect(leaseValidityAt(undefined, now, 60_000).state).to.equal("expired");
    expect(state({ ...fresh, holderIdentity: "" }, 60_000)).to.equal("expired");
    expect(state({ renewTime: "soon" }, 60_000)).to.equal("expired");
    expect(leaseValidityAt({ metadata: { name: "n" }, spec: {} }, now, 60_000).state).to.equal("expired");
  });
});
