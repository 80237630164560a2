import { expect } from "chai";
import type { IndexedIntent, NodeVolumeState } from "../../../src/api/types.gen.ts";
import type { Facts } from "../../../src/explain/facts.ts";
import { nextStep } from "../../../src/explain/next-steps.ts";
import { nodeFindings } from "../../../src/explain/node-finding.ts";
import { agent, ago, facts, node } from "../../lib/builders/cli-objects.ts";

describe("nodeFindings", () => {
  function found(reason: string, ours = true) {
    const message = "its NodeVolumeState has no spec.intents";
    const conditions = [
      { type: "Ready", status: "False", reason, message, lastTransitionTime: "2026-01-01T00:00:00Z" },
    ];
    const states = [{ metadata: { name: "n1" }, status: { conditions } } as NodeVolumeState];
    const known = { states, nodes: [], agents: [], denied: { nodes: "not asked", agents: "not asked" } };
    return nodeFindings(known as unknown as Facts, "n1", {
      ours,
    });
  }

  it("says that an agent does not hear of its volumes, why, and what to do", () => {
    for (const code of ["IndexMissing", "IndexTooLarge"]) {
      expect(found(code)).to.deep.equal([
        {
          state: "blocked",
          code,
          text: "the agent of n1 receives no changes of its volumes",
          quote: "its NodeVolumeState has no spec.intents",
          since: "2026-01-01T00:00:00Z",
          on: { kind: "NodeVolumeState", name: "n1" },
          todo: nextStep(code, { node: "n1" }),
        },
      ]);
    }
    expect([found("Progressing"), found("IndexMissing", false)]).to.deep.equal([[], []]);
  });

  it("believes no Lease of a time to come where the controller has missed the renewals", () => {
    const seen = { node: "n1", lease: "live", renewed: "9999-12-31T23:59:59.000000Z" } as const;
    const codes = (reason: string, status: string) => {
      const conditions = [{ type: "Ready", status, reason, message: "", lastTransitionTime: "2026-01-01T00:00:00Z" }];
      const states = [{ metadata: { name: "n1" }, status: { conditions } } as NodeVolumeState];
      const known = facts({ agents: [seen], states, nodes: [node("n1")] });
      return nodeFindings(known, "n1", { ours: true }).map(({ code }) => code);
    };
    expect(codes("AgentLost", "Unknown")).to.deep.equal(["AgentLost"]);
    expect(codes("InSync", "True"), "of a node whose clock is ahead").to.deep.equal([]);
  });

  it("says that an agent has missed renewals before its Lease has run out", () => {
    const of = (renewedAgo: number) => {
      const [first] = nodeFindings(facts({ agents: [agent("worker-1", renewedAgo)] }), "worker-1", { ours: true });
      return first && [first.code, first.since];
    };
    expect([of(59), of(60), of(200)]).to.deep.equal([undefined, ["AgentLate", ago(60)], ["AgentLost", ago(200)]]);
  });

  describe("of the index of a node's intents", () => {
    const now = Date.parse("2026-01-01T00:02:00Z");
    const entry = (uid: string): IndexedIntent => ({ name: `n1.${uid}`, uid, generation: 1 });
    const intent = (uid: string, creationTimestamp = "2026-01-01T00:00:00Z", spec: object = {}) => ({
      metadata: { name: `n1.${uid}`, uid, creationTimestamp },
      spec: { nodeName: "n1", ...spec },
    });
    const lacks = (index: readonly IndexedIntent[] | undefined, ...intents: readonly object[]) => {
      const states = [{ metadata: { name: "n1" }, ...(index && { spec: { intents: index } }) }];
      const denied = { nodes: "not asked", agents: "not asked" };
      const known = { now, states, intents, nodes: [], agents: [], denied };
      return nodeFindings(known as unknown as Facts, "n1", { ours: true }).map(({ code, text }) => `${code}: ${text}`);
    };

    it("says what it has lacked for longer than a minute, by UID", () => {
      const [told, ...more] = lacks([entry("a")], intent("a"), intent("b"), intent("c"));
      expect(told).to.match(
        /^IndexBehind: the index of n1 lacks 2 of its intents, such as n1\.b: no controller updates it/,
      );
      expect(more).to.deep.equal([]);
    });

    it("says nothing where there is none, of what has just come, is only observed, or is another node's", () => {
      const others = [intent("b", "2026-01-01T00:01:30Z"), intent("c", undefined, { observed: {} })];
      expect(lacks([entry("a")], intent("a"), ...others, intent("d", undefined, { nodeName: "n2" }))).to.be.empty;
      expect(lacks(undefined, intent("a"))).to.be.empty;
    });
  });

  it("of a Node that is gone: what to release is ours alone, and only of a machine that is off", () => {
    const todo = (ours: boolean) => nodeFindings(facts({}), "gone", { ours })[0]?.todo;
    expect(todo(true)).to.match(/^If you have made sure that the machine is off: kubectl nvi release gone VOLUME\./);
    expect(todo(false)).to.not.include("nvi release");
  });
});
