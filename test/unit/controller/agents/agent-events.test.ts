import { expect } from "chai";
import { createAgentEvents } from "../../../../src/controller/agents/agent-events.ts";

describe("createAgentEvents", () => {
  function world() {
    let now = 0;
    let renewedAt: number | undefined = 0;
    let lateForMs = -60_000;
    const told: string[] = [];
    const messages: string[] = [];
    const agentEvents = createAgentEvents({
      recorder: {
        event({ reason, message }: { readonly reason: string; readonly message: string }) {
          told.push(reason);
          messages.push(message);
        },
      } as never,
      clock: { monotonic: () => now },
      leases: {
        lateForMs: () => lateForMs,
        silence: () => ({
          ...{ lostForMs: 0, silentForMs: 0 },
          renewedForMs: renewedAt === undefined ? undefined : now - renewedAt,
        }),
      },
      uidOfNode: () => "u",
      uidOfState: () => undefined,
    });
    const lives = (back = false) => {
      agentEvents.lives("n", { knownLost: false, back });
      return told.splice(0);
    };
    return {
      agentEvents,
      told,
      messages,
      lives,
      at(ms: number, late: number) {
        [now, lateForMs] = [ms, late];
      },
      renewed(ms: number) {
        renewedAt = ms;
      },
    };
  }

  it("says that an agent is back once it has renewed its Lease, not because renewals were not seen", () => {
    const { agentEvents, told, lives, at, renewed } = world();
    at(70_000, 10_000);
    expect([lives(), lives()]).to.deep.equal([["AgentLate"], []]);
    at(190_000, -60_000);
    agentEvents.lost("n");
    expect(told.splice(0)).to.deep.equal(["AgentLost"]);
    // The watch was lost and is back: time begins anew, and nobody has heard of the agent.
    expect([lives(), lives(true)]).to.deep.equal([[], []]);
    at(200_000, -60_000);
    renewed(195_000);
    expect([lives(), lives()]).to.deep.equal([["AgentLive"], []]);
  });

  it("says of an agent that is late since when, what follows, and what to do", () => {
    const { messages, lives, at } = world();
    at(70_000, 10_000);
    lives();
    expect(messages).to.deep.equal([
      "The agent of the node last renewed its Lease 60 s before this Event, or earlier. Its mounts stay. " +
        "180 s after the last renewal, their state counts as unknown. Check that n is up and its agent runs: " +
        "kubectl -n nodevolume-system get pods -o wide --field-selector spec.nodeName=n",
    ]);
  });

  it("says so of an agent that another leader has called lost, and forgets a node that is gone", () => {
    const { agentEvents, lives, at } = world();
    expect(lives(true)).to.deep.equal(["AgentLive"]);
    at(70_000, 10_000);
    expect(lives()).to.deep.equal(["AgentLate"]);
    agentEvents.forget("n");
    expect(lives()).to.deep.equal(["AgentLate"]);
  });
});
