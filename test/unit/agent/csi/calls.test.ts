import { expect } from "chai";
import { answered, type Calls, sending, stillActingMs, unanswered } from "../../../../src/agent/csi/calls.ts";

const deadline = 120_000;

describe("calls of a driver that may still take effect (safety rule 8)", () => {
  const stories: readonly {
    readonly what: string;
    readonly calls: Calls;
    readonly now: number;
    readonly ms: number;
  }[] = [
    { what: "none was sent", calls: {}, now: 0, ms: 0 },
    { what: "it was answered", calls: answered(sending({}), 5), now: 6, ms: 0 },
    { what: "it is sent", calls: sending({}), now: 1_000_000, ms: deadline },
    { what: "it ended without an answer, and nothing was answered since", calls: unanswered(), now: 1e9, ms: deadline },
    { what: "a later one was just answered", calls: answered(sending(unanswered()), 1_000), now: 1_000, ms: deadline },
    { what: "a later one was answered a while ago", calls: answered(unanswered(), 1_000), now: 61_000, ms: 60_000 },
    { what: "a later one was answered a deadline ago", calls: answered(unanswered(), 1_000), now: 121_000, ms: 0 },
    { what: "the first answer counts", calls: answered(answered(unanswered(), 1_000), 90_000), now: 121_000, ms: 0 },
    {
      what: "the agent was ended in a call, the next was answered",
      calls: answered(sending(sending({})), 0),
      now: 1,
      ms: deadline - 1,
    },
    { what: "another was lost since", calls: unanswered(), now: 121_000, ms: deadline },
    { what: "the clock was put back", calls: answered(unanswered(), 9e9), now: 0, ms: deadline },
  ];
  for (const { what, calls, now, ms } of stories) {
    it(`${what}: ${ms} ms`, () => expect(stillActingMs(calls, now, deadline)).to.equal(ms));
  }
});
