import { expect } from "chai";
import { entriesOf } from "../../../../src/cli/commands/history.ts";
import { intent } from "../../../lib/builders/cli-objects.ts";

const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1, 12, 0, seconds)).toISOString().replace(".000", "");

describe("what has happened to a volume", () => {
  const one = intent(
    "n.data",
    {},
    {
      history: [
        { time: at(0), state: "Staging", reason: "Staging" },
        { time: at(2), state: "Waiting", reason: "ServerUnreachable" },
        { time: at(65), state: "Mounted", reason: "Mounted" },
      ],
    },
  );
  const event = (uid: string, seconds: number, more = {}) => ({
    metadata: { name: "e" },
    involvedObject: { uid },
    reason: "MountFailed",
    message: "no answer",
    lastTimestamp: at(seconds),
    ...more,
  });

  it("is each state until the next, with Events of this very intent between them, oldest first", () => {
    const events = [event(one.metadata.uid ?? "", 30, { count: 7 }), event("an-earlier-one", 31)];
    const rows = entriesOf(one, events).map(({ time, lasted, what, reason, message }) =>
      [time, lasted, what, reason, message].join("|"),
    );
    expect(rows).to.deep.equal([
      `${at(0)}|2s|Staging|Staging|`,
      `${at(2)}|63s|Waiting|ServerUnreachable|`,
      `${at(30)}||Event|MountFailed|no answer (7 times)`,
      `${at(65)}||Mounted|Mounted|`,
    ]);
  });

  it("is nothing where no agent has said anything", () => {
    expect(entriesOf(intent("n.data", {}), [])).to.deep.equal([]);
  });
});
