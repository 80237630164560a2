import { expect } from "chai";
import {
  answered,
  awaitsAnswer,
  type Calls,
  type Moment,
  sending,
  stillActingMs,
  unanswered,
} from "../../../../src/agent/model/csi-call-record.ts";

const deadline = 120_000;
const run = 7;
const at = (ms: number, epoch = run): Moment => ({ epoch, ms });

describe("whether an answer is waited for, from which the time of an open call runs", () => {
  const open: readonly { readonly what: string; readonly calls: Calls; readonly awaits: boolean }[] = [
    { what: "no call is open", calls: {}, awaits: false },
    { what: "one was cut off", calls: sending({}), awaits: true },
    { what: "one ended without an answer", calls: unanswered(), awaits: true },
    { what: "a later one was answered in this run", calls: answered(unanswered(), at(5)), awaits: false },
    { what: "a later one was answered in another run", calls: answered(unanswered(), at(5, 6)), awaits: true },
  ];
  for (const { what, calls, awaits } of open) {
    it(`${what}: ${awaits ? "yes" : "no"}`, () => expect(awaitsAnswer(calls, at(9))).to.equal(awaits));
  }
});

describe("calls of a driver that may still take effect (safety rule 8)", () => {
  const stories: readonly {
    readonly what: string;
    readonly calls: Calls;
    readonly now: number;
    readonly ms: number;
  }[] = [
    { what: "none was sent", calls: {}, now: 0, ms: 0 },
    { what: "it was answered", calls: answered(sending({}), at(5)), now: 6, ms: 0 },
    { what: "it is sent", calls: sending({}), now: 1_000_000, ms: deadline },
    { what: "it ended without an answer, and nothing was answered since", calls: unanswered(), now: 1e9, ms: deadline },
    {
      what: "a later one was just answered",
      calls: answered(sending(unanswered()), at(1_000)),
      now: 1_000,
      ms: deadline,
    },
    { what: "a later one was answered a while ago", calls: answered(unanswered(), at(1_000)), now: 61_000, ms: 60_000 },
    { what: "a later one was answered a deadline ago", calls: answered(unanswered(), at(1_000)), now: 121_000, ms: 0 },
    {
      what: "the first answer counts",
      calls: answered(answered(unanswered(), at(1_000)), at(90_000)),
      now: 121_000,
      ms: 0,
    },
    {
      what: "the agent was ended in a call, the next was answered",
      calls: answered(sending(sending({})), at(0)),
      now: 1,
      ms: deadline - 1,
    },
    { what: "another was lost since", calls: unanswered(), now: 121_000, ms: deadline },
    { what: "it was answered in another run", calls: answered(unanswered(), at(0, 6)), now: 9e9, ms: deadline },
    {
      what: "it was answered in another run, and in this one",
      calls: answered(answered(unanswered(), at(9e9, 6)), at(1_000)),
      now: 31_000,
      ms: 90_000,
    },
  ];
  for (const { what, calls, now, ms } of stories) {
    it(`${what}: ${ms} ms`, () => expect(stillActingMs(calls, at(now), deadline)).to.equal(ms));
  }
});
