import { expect } from "chai";
import type { RunningProcess } from "../../../hack/lib/process.ts";
import { keepProcess } from "../../../hack/quickstart/kept-process.ts";
import { tellRestarts } from "../../../hack/quickstart/restart.ts";

/** Stands in for a process: it ends when it is told to. */
function fakeProcess(pid: number): RunningProcess {
  let how: string | undefined;
  let end: (text: string) => void = () => undefined;
  const ended = new Promise<string>((resolve) => {
    end = (text) => {
      how = text;
      resolve(text);
    };
  });
  return {
    name: "agent of n",
    pid,
    logFile: "/nowhere",
    ended,
    ending: () => how,
    kill: (signal) => end(`was killed by ${signal}`),
    stop: async () => end("exited with 0"),
  };
}

describe("keepProcess", () => {
  function kept() {
    let started = 0;
    const process = keepProcess(() => {
      started += 1;
      return fakeProcess(started);
    });
    return { process, started: () => started };
  }

  it("starts what has ended again, as a DaemonSet does", async () => {
    const { process, started } = kept();
    expect([process.pid, process.name]).to.deep.equal([1, "agent of n"]);
    const restarted = process.restarted();
    process.kill("SIGKILL");
    await restarted;
    expect([process.pid, started(), process.ending()]).to.deep.equal([2, 2, undefined]);
    await process.stop();
  });

  it("does not start what was stopped again", async () => {
    const { process, started } = kept();
    await process.stop();
    expect([await process.ended, process.ending(), started()]).to.deep.equal(["exited with 0", "exited with 0", 1]);
  });

  it("gives up what ends again and again at once: it has a reason, and its log has it", async () => {
    const { process, started } = kept();
    for (let times = 0; times < 3; times += 1) {
      const restarted = process.restarted();
      process.kill("SIGKILL");
      await restarted;
    }
    process.kill("SIGKILL");
    expect([await process.ended, started()]).to.deep.equal(["was killed by SIGKILL", 4]);
  });

  it("is told of by the number that another terminal has for it, or by none", async () => {
    const { process } = kept();
    const { signal } = new AbortController();
    let told: (line: string) => void = () => undefined;
    const outerPid = async (pid: number) => (pid === 2 ? 4002 : 0);
    tellRestarts({ agents: [process] }, { note: (line) => told(line) }, { stopped: signal, outerPid });
    const killed = () =>
      new Promise<string>((resolve) => {
        told = resolve;
        process.kill("SIGKILL");
      });
    expect(await killed()).to.equal("agent of n has ended, and was started again as 4002");
    expect(await killed()).to.equal("agent of n has ended, and was started again");
    await process.stop();
  });
});
