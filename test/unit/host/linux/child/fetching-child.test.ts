import { expect } from "chai";
import { VolumeError } from "../../../../../src/errors.ts";
import { inFetchingChild } from "../../../../../src/host/linux/child/fetching-child.ts";

const operation = { deadlineMs: 1, formatDeadlineMs: 1, onChild: async () => {} };
const work = {
  kind: "unpack",
  request: { directory: "/d", from: { reference: "r" }, sizeLimit: 1 },
  agent: 1,
} as const;
const said = async (message: string, reason: "SetUpFailed" | "TimedOut") => {
  const runner = { run: () => Promise.reject(new VolumeError(reason, "uncertain", message)) };
  const error = await inFetchingChild(runner, operation, work, "r.example", () => {}).catch(
    (caught: unknown) => caught,
  );
  return `${(error as VolumeError).reason}: ${(error as VolumeError).message}`;
};

describe("inFetchingChild", () => {
  it("says of a child that the kernel has ended why that was, and what to do", async () => {
    expect(await said("a child process was ended by SIGKILL: ", "SetUpFailed")).to.match(
      /^SetUpFailed: .* memory ran out, and the kernel ends it before the agent. Raise the memory limit/,
    );
    expect(await said("no answer within 5 s", "TimedOut")).to.equal("TimedOut: no answer within 5 s");
  });
});
