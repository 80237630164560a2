import { expect } from "chai";
import type { NodeFacts } from "../../../../src/controller/model/node-facts.ts";
import type { Intent } from "../../../../src/controller/model/projections.ts";
import {
  awaitsRelease,
  decideRelease,
  mendsInMs,
  proofInMs,
} from "../../../../src/controller/release/decide-release.ts";
import { node, setEntry, settledStatus } from "../objects.ts";
import { oneNode } from "../one-node.ts";

/** An intent that is being deleted and was mounted before; nothing has acknowledged it. */
function deleted(change: (intent: Intent) => void = () => {}): Intent {
  const world = oneNode([setEntry("a")]);
  world.settle();
  world.agent();
  world.sets = [setEntry("a", { deleted: true })];
  world.settle();
  const intent = world.intent("share");
  change(intent);
  return intent;
}

const acknowledged = (change: (intent: Intent) => void = () => {}) =>
  deleted((intent) => {
    intent.status = settledStatus(intent);
    change(intent);
  });

describe("decideRelease", () => {
  const here: NodeFacts = { node: node("n1"), lostForMs: 0, silentForMs: -1 };
  const gone: NodeFacts = { node: undefined, lostForMs: 0, silentForMs: 0 };
  const proofOf = (intent: Intent, facts: NodeFacts = here) => {
    const decision = decideRelease(intent, facts);
    return decision.release ? decision.proof.kind : decision.reason;
  };

  it("setting the deletionTimestamp has raised the generation, so the status before it acknowledges nothing", () => {
    const intent = deleted();
    expect(intent.metadata.generation).to.equal(2);
    expect(intent.status.observedGeneration).to.equal(1);
    expect(proofOf(intent)).to.equal("Unmounting");
  });

  it("lets go on an acknowledgement", () => {
    expect(proofOf(acknowledged())).to.equal("Acknowledged");
    expect(proofOf(acknowledged(), gone)).to.equal("Acknowledged");
  });

  describe("while any agent could have written what this one says", () => {
    const never = Number.POSITIVE_INFINITY;
    const alive = { ...here, silentForMs: -1 };
    const wrong: NodeFacts = { ...alive, agentsPolicy: { wrong: "there is no policy", rightForMs: 0 } };
    const decided = (intent: Intent, facts: NodeFacts) => decideRelease(intent, facts);

    it("keeps on an acknowledgement, looks again, and lets go while the policy is right and always was", () => {
      expect(decided(acknowledged(), wrong)).to.deep.equal({
        ...{ release: false, reason: "PolicyMissing", checkAgainInMs: 60_000 },
      });
      const right = { ...alive, agentsPolicy: { wrong: undefined, rightForMs: never } };
      expect(proofOf(acknowledged(), right)).to.equal("Acknowledged");
      expect(proofOf(acknowledged(), { ...right, silentForMs: 1 })).to.equal("Acknowledged");
    });

    it("after it has come back keeps for as long as a Lease lasts, and then believes agents that live", () => {
      const back = (rightForMs: number, renewedForMs?: number): NodeFacts => ({
        ...{ ...alive, renewedForMs, agentsPolicy: { wrong: undefined, rightForMs } },
      });
      expect(decided(acknowledged(), back(150_000, 1))).to.deep.include({ release: false, checkAgainInMs: 50_000 });
      expect(proofOf(acknowledged(), back(200_000, 20_000))).to.equal("Acknowledged");
      expect(proofOf(acknowledged(), back(200_000, 20_001)), "renewed too soon").to.equal("PolicyMissing");
      expect(proofOf(acknowledged(), back(1e9)), "never heard, whatever its Lease says").to.equal("PolicyMissing");
    });

    it("gives agents that go by an index the time to find out, to read, and to be heard after that", () => {
      const mendsIn = mendsInMs(true);
      const back = (rightForMs: number, renewedForMs: number): NodeFacts => ({
        ...{ ...alive, renewedForMs, mendsInMs: mendsIn, agentsPolicy: { wrong: undefined, rightForMs } },
      });
      expect(decided(acknowledged(), back(200_000, 1))).to.deep.include({ release: false, checkAgainInMs: 420_000 });
      expect(proofOf(acknowledged(), back(620_000, 20_000))).to.equal("Acknowledged");
      expect(proofOf(acknowledged(), back(620_000, 20_001)), "heard before it had looked").to.equal("PolicyMissing");
      expect(mendsInMs(false)).to.equal(180_000);
      // A look in each five minutes and a half, one more after a look without an answer, two minutes to read.
      expect(mendsIn).to.be.at.least(330_000 + 66_000 + 120_000 + 60_000);
    });

    it("takes no boot id or silence for a proof, which agents write, but what people say", () => {
      const rebooted = { ...wrong, node: node("n1", { bootID: "b9" }), silentForMs: 1 };
      expect(proofOf(acknowledged(), rebooted)).to.equal("PolicyMissing");
      const word = (i: Intent) => (i.metadata.annotations = { "nodevolume.dev/release": "anna: in pieces" });
      expect(proofOf(acknowledged(word), rebooted)).to.equal("AdministratorsWord");
      const out = { key: "node.kubernetes.io/out-of-service", effect: "NoExecute" };
      expect(proofOf(acknowledged(), { ...wrong, node: node("n1", { taints: [out] }) })).to.equal("OutOfService");
      expect(
        proofOf(
          acknowledged((i) => delete i.spec.grant),
          wrong,
        ),
      ).to.equal("NeverGranted");
    });
  });

  const not: [string, (intent: Intent) => void][] = [
    ["of another object of the same name", (i) => (i.status.observedUID = "another")],
    ["of an older generation", (i) => (i.status.observedGeneration = 1)],
    ["of a generation that is yet to come", (i) => (i.status.observedGeneration = 3)],
    ["of another grant", (i) => (i.status.grantID = "another")],
    ["without a grant", (i) => delete i.status.grantID],
    ["that says that it may be in use", (i) => (i.status.inUse = true)],
    ["that does not say whether it is in use", (i) => delete i.status.inUse],
    ["of nobody", (i) => delete i.status.agent],
    ["in another state", (i) => (i.status.state = "Unmounting")],
    ["that retains what was to be unmounted", (i) => (i.status.state = "Retained")],
    ["that was wiped", (i) => (i.status = {})],
  ];
  for (const [what, change] of not) {
    it(`keeps on an acknowledgement ${what}`, () => {
      expect(proofOf(acknowledged(change))).to.equal("Unmounting");
    });
  }

  it("lets go what is retained by its policy, in use or not", () => {
    const retain = (i: Intent) => {
      i.spec.deletionPolicy = "Retain";
      i.status.state = "Retained";
      i.status.inUse = true;
    };
    expect(proofOf(acknowledged(retain))).to.equal("Acknowledged");
  });

  it("lets go what never had a grant", () => {
    expect(proofOf(deleted((i) => delete i.spec.grant))).to.equal("NeverGranted");
  });

  describe("proof that the node holds nothing", () => {
    const facts = (more: Parameters<typeof node>[1], silentForMs = 0): NodeFacts => ({
      node: node("n1", more),
      lostForMs: 0,
      silentForMs,
    });
    const lost = (lostForMs: number): NodeFacts => ({ node: undefined, lostForMs, silentForMs: lostForMs });
    const taints = [{ key: "node.kubernetes.io/out-of-service", value: "nodeshutdown", effect: "NoExecute" }];
    const trusting = (i: Intent) => (i.spec.nodeLossPolicy = { type: "AfterTimeout", timeoutSeconds: 300 });
    // As the API server shows a policy whose time was written by another name: it drops what the CRD does not have.
    const timeless = (i: Intent) => (i.spec.nodeLossPolicy = { type: "AfterTimeout" });
    const cases: [string, string, NodeFacts, ((intent: Intent) => void)?][] = [
      ["the out-of-service taint", "OutOfService", facts({ taints })],
      ["another boot of a Ready node whose agent is silent", "Rebooted", facts({ bootID: "another" })],
      [
        "another boot, but the agent lives: it may use the volume again",
        "Unmounting",
        facts({ bootID: "another" }, -1),
      ],
      ["another boot of a node that is not Ready: not yet", "Unmounting", facts({ bootID: "another", ready: false })],
      ["no bootID on the Node: none", "Unmounting", facts({ bootID: "" })],
      ["no bootID in the status: none", "Unmounting", facts({ bootID: "another" }), (i) => delete i.status.agent],
      ["the Node is gone: none", "NodeLost", gone],
      ["gone for long, policy Never: none", "NodeLost", lost(1e12)],
      ["gone for less than the policy says: not yet", "NodeLost", lost(299_999), trusting],
      ["gone for as long as the policy says", "NodeLostTimeout", lost(300_000), trusting],
      ["gone for long, a policy without its time: none", "NodeLost", lost(1e12), timeless],
      ["silent, but the Node is there: none", "Unmounting", facts({}, 1e12), trusting],
      [
        "an administrator's word",
        "AdministratorsWord",
        here,
        (i) => (i.metadata.annotations = { "nodevolume.dev/release": "me: checked" }),
      ],
      ["an empty word: none", "Unmounting", here, (i) => (i.metadata.annotations = { "nodevolume.dev/release": "" })],
    ];
    for (const [what, expected, given, change] of cases) {
      it(what, () => expect(proofOf(deleted(change), given)).to.equal(expected));
    }

    it("says when time alone may bring a proof", () => {
      const againInMs = (intent: Intent, given: NodeFacts) => {
        const decision = decideRelease(intent, given);
        return decision.release ? "released" : decision.checkAgainInMs;
      };
      expect(againInMs(deleted(trusting), lost(100_000))).to.equal(200_000);
      expect(againInMs(deleted(trusting), lost(0)), "the Node has just gone").to.equal(300_000);
      expect(againInMs(deleted(trusting), { node: undefined, lostForMs: 0, silentForMs: -7 })).to.equal(300_007);
      expect(againInMs(deleted(), lost(100_000))).to.equal(undefined);
      expect(againInMs(deleted(timeless), lost(100_000)), "a policy without its time").to.equal(undefined);
      expect(againInMs(deleted(), facts({ bootID: "another" }, -7)), "rebooted, the agent still heard").to.equal(7);
      expect(againInMs(deleted(), facts({}, -7))).to.equal(undefined);
      expect(proofInMs(deleted(), facts({ bootID: "another" })), "the proof is there").to.equal(undefined);
      expect(proofInMs(deleted(trusting), lost(300_000)), "the proof is there").to.equal(undefined);
      expect(proofInMs(deleted(trusting), lost(299_999.8)), "timers count whole milliseconds").to.equal(1);
    });
  });

  it("awaitsRelease: being deleted, and held by our finalizer", () => {
    expect(awaitsRelease(deleted())).to.equal(true);
    expect(awaitsRelease(deleted((i) => (i.metadata.finalizers = ["other"])))).to.equal(false);
    expect(awaitsRelease(deleted((i) => delete i.metadata.deletionTimestamp))).to.equal(false);
  });
});
