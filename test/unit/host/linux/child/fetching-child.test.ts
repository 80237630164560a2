import { expect } from "chai";
import { VolumeError } from "../../../../../src/errors.ts";
import { EndedBySignal } from "../../../../../src/host/linux/child/child-runner.ts";
import { inFetchingChild } from "../../../../../src/host/linux/child/fetching-child.ts";

const operation = { deadlineMs: 1, formatDeadlineMs: 1, onChild: async () => {} };
const work = {
  kind: "unpack",
  request: { directory: "/d", from: { reference: "r" }, sizeLimit: 1 },
  agent: 1,
} as const;
const said = async (rejection: VolumeError) => {
  const runner = { run: () => Promise.reject(rejection) };
  const error = await inFetchingChild(runner, operation, work, "r.example", () => {}).catch(
    (caught: unknown) => caught,
  );
  return `${(error as VolumeError).reason}: ${(error as VolumeError).message}`;
};
const endedBy = (signal: string, stderr = "") => new EndedBySignal({ code: null, signal, stdout: "", stderr });

describe("inFetchingChild", () => {
  it("says of a child that the kernel has ended why that was, and what to do", async () => {
    expect(await said(endedBy("SIGKILL"))).to.match(
      /^SetUpFailed: .* memory ran out, and the kernel ends it before the agent. Raise the memory limit/,
    );
    expect(await said(new VolumeError("TimedOut", "uncertain", "no answer within 5 s"))).to.equal(
      "TimedOut: no answer within 5 s",
    );
  });

  it("takes no other end for that, whatever the child or a program of its has written", async () => {
    const words = "index-pack was ended by SIGKILL";
    expect(await said(endedBy("SIGSEGV", words))).to.equal(
      `SetUpFailed: a child process was ended by SIGSEGV: ${words}`,
    );
    expect(await said(new VolumeError("SetUpFailed", "transient", words))).to.equal(`SetUpFailed: ${words}`);
  });
});
