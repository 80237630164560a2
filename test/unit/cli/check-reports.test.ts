import { checksAfter } from "../../../src/cli/check/checks.ts";
import type { InstalledFacts } from "../../../src/cli/check/facts.ts";
import {
  agent,
  bad,
  controller,
  expectResults,
  installed,
  lease,
  now,
  state,
  version,
} from "../../lib/builders/check-facts.ts";

/** What is not as it should be, of an installation on as many nodes. */
function found(nodes: readonly string[], more: Partial<InstalledFacts>): string[] {
  return bad(checksAfter(installed(more, nodes), now, version));
}

const reporting = (node: string, reason: string) => state(node, { ready: { status: "False", reason, message: "" } });

/** Nodes by what they report, each reason on one node more than the next. */
function nodesReporting(...reasons: readonly string[]) {
  const states = reasons.flatMap((reason, at) =>
    Array.from({ length: reasons.length - at }, (_, number) => reporting(`${reason.toLowerCase()}-${number}`, reason)),
  );
  return { nodes: states.map(({ node }) => node), states: { items: states } };
}

describe("kubectl nvi check, of what agents report", () => {
  it("shows what somebody must act on before what is on more nodes, and counts the rest", () => {
    const { nodes, states } = nodesReporting("A", "B", "C", "D", "E", "IndexMissing");
    expectResults(found(nodes, { states }), [
      /^✗ reports: IndexMissing on indexmissing-0 /,
      /^! reports: A on /,
      /^! reports: B on /,
      /^! reports: C on /,
      /^! reports: other reasons on 5 nodes → kubectl get nvstate$/,
    ]);
  });

  it("fails by the rest if somebody must act on any of it", () => {
    const { nodes, states } = nodesReporting(
      "IndexMissing",
      "IndexBehind",
      "IndexTooLarge",
      "JournalFailed",
      "Invalid",
      "A",
    );
    expectResults(found(nodes, { states }).slice(4), [/^✗ reports: other reasons on 3 nodes → kubectl get nvstate$/]);
  });

  it("believes a Lease for a minute longer than it says: the clocks may differ", () => {
    const leases = (leader: number, agents: number) => ({
      leases: { items: [lease("nodevolume-controller", leader), lease("worker-1", agents)] },
    });
    expectResults(found(["worker-1"], leases(180 + 59, 180 + 59)), []);
    expectResults(found(["worker-1"], leases(180 + 61, 180 + 61)), [
      /^✗ leader: no controller leads: the Lease was renewed 4m1s ago/,
      /^✗ reports: AgentLost on worker-1: /,
    ]);
  });

  it("believes nothing that an agent has said of policies that is not there any more", () => {
    const states = { items: [state("worker-1"), state("gone", { unguarded: "the policy refuses nothing" })] };
    expectResults(found(["worker-1"], { states }), []);
    const pods = { items: [controller(1), controller(2), agent("worker-1"), agent("gone")] };
    const registered = { items: ["worker-1", "gone"] };
    const leases = { items: ["nodevolume-controller", "worker-1", "gone"].map((name) => lease(name)) };
    expectResults(found(["worker-1"], { states, pods, leases, registered }), [
      /^✗ admission policies: the policy refuses nothing → /,
    ]);
  });
});
