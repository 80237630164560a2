import { expect } from "chai";
import { asMountPath, type MountPath } from "../../../../src/agent/model/identities.ts";
import { KeptTokens } from "../../../../src/agent/pods/kept-tokens.ts";
import { PodTokens } from "../../../../src/csi/client/pod-tokens.ts";
import { tokensFor } from "../../../lib/fakes/pod-tokens.ts";
import { virtualSystem } from "../../kube/virtual-system.ts";

const audiences = ["vault"];
const identity = (uid: string, signature: string, more: { until?: string; also?: string } = {}) => {
  const signatures = { vault: signature, ...(more.also !== undefined && { [more.also]: "other" }) };
  return { serviceAccount: `of-${uid}`, tokens: PodTokens.read(tokensFor(uid, signatures, more.until), uid) };
};

describe("what kubelet has handed over for targets of pods", () => {
  let kept: KeptTokens;
  let system: ReturnType<typeof virtualSystem>;
  beforeEach(() => {
    system = virtualSystem();
    kept = new KeptTokens(system.clock);
  });
  const has = (path: MountPath, of = audiences) => kept.of(path, of)?.tokens.reveal();

  it("is for its own target, and of it what the grant names", () => {
    expect(kept.keep(asMountPath("/a"), identity("a", "1", { also: "aws" }), audiences)).to.equal(true);
    expect(kept.keep(asMountPath("/b"), identity("b", "2"), audiences)).to.equal(true);
    expect([has(asMountPath("/a")), has(asMountPath("/b")), has(asMountPath("/c"))]).to.deep.equal([
      tokensFor("a", { vault: "1" }),
      tokensFor("b", { vault: "2" }),
      undefined,
    ]);
    expect(has(asMountPath("/a"), ["vault", "aws"]), "as it was dropped").to.equal(undefined);
    expect(kept.of(asMountPath("/a"), audiences)?.serviceAccount).to.equal("of-a");
  });

  it("is nothing for a driver that acts as nobody, or where an audience is missing", () => {
    expect(kept.keep(asMountPath("/a"), identity("a", "1"), undefined)).to.equal(false);
    expect(kept.keep(asMountPath("/a"), identity("a", "1"), ["vault", "aws"])).to.equal(false);
    expect(kept.keep(asMountPath("/a"), undefined, audiences)).to.equal(false);
    expect(kept.states.size).to.equal(0);
  });

  it("is there until it is dropped, or the grant asks for nothing", () => {
    kept.keep(asMountPath("/a"), identity("a", "1"), audiences);
    expect(kept.keep(asMountPath("/a"), undefined, audiences)).to.equal(false);
    expect(has(asMountPath("/a"))).to.not.equal(undefined);
    expect([kept.drop(asMountPath("/a")), kept.drop(asMountPath("/a"))]).to.deep.equal([true, false]);
    expect([has(asMountPath("/a")), kept.states.size]).to.deep.equal([undefined, 0]);
    kept.keep(asMountPath("/a"), identity("a", "1"), audiences);
    expect(kept.keep(asMountPath("/a"), identity("a", "1"), undefined)).to.equal(true);
    expect(has(asMountPath("/a"))).to.equal(undefined);
  });

  it("is fresh until the driver has had it, and again when kubelet brings another", () => {
    const fresh = () => kept.states.get(asMountPath("/a"))?.fresh;
    const given = () => {
      const found = kept.of(asMountPath("/a"), audiences);
      if (found !== undefined) kept.given(asMountPath("/a"), found);
    };
    kept.keep(asMountPath("/a"), identity("a", "1"), audiences);
    const before = kept.of(asMountPath("/a"), audiences);
    given();
    expect(fresh()).to.equal(false);
    expect(kept.keep(asMountPath("/a"), identity("a", "1"), audiences), "the same").to.equal(false);
    expect(fresh()).to.equal(false);
    expect(kept.keep(asMountPath("/a"), identity("a", "2"), audiences)).to.equal(true);
    if (before !== undefined) kept.given(asMountPath("/a"), before); // of a call that began before
    expect(fresh()).to.equal(true);
    given();
    expect(fresh()).to.equal(false);
  });

  it("is not used once it has run out", async () => {
    const until = new Date(system.clock.now() + 600_000).toISOString();
    kept.keep(asMountPath("/a"), identity("a", "1", { until }), audiences);
    expect(kept.states.get(asMountPath("/a"))?.until).to.equal(system.clock.monotonic() + 600_000);
    await system.advance(599_999);
    expect(has(asMountPath("/a"))).to.not.equal(undefined);
    await system.advance(1);
    expect(has(asMountPath("/a"))).to.equal(undefined);
  });
});
