import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { silent } from "../../hack/lib/silent-log.ts";
import { until } from "../../hack/lib/until.ts";
import { VolumeError } from "../../src/errors.ts";
import { runProgram } from "../../src/host/linux/child/child-reply.ts";
import { ChildRunner } from "../../src/host/linux/child/child-runner.ts";
import { ChildMounter } from "../../src/host/linux/mount/child-mounter.ts";
import type { OperationContext } from "../../src/host/ports/host-ports.ts";
import type { ChildProcessID } from "../../src/host/ports/types.ts";
import type { Timers } from "../../src/ports.ts";
import { realSystem } from "../../src/system.ts";
import { volumeFailure } from "../lib/asserts/volume-failure.ts";
import { childCommand } from "../lib/kernel/child-command.ts";

const { timers } = realSystem(silent);
const probe = { kind: "probe", path: "/dev/null" } as const;

/** A runner whose child, once told what to do, runs `script`. */
function runner(script: string, given: Timers = timers): ChildRunner {
  const told = `require("readline").createInterface({input:process.stdin}).once("line",(line)=>{${script}})`;
  return new ChildRunner({ timers: given, command: [process.execPath, "-e", told] });
}

describe("ChildRunner", () => {
  let started: ChildProcessID[];
  beforeEach(() => {
    started = [];
  });

  const operation = (more: Partial<OperationContext> = {}): OperationContext => ({
    deadlineMs: 20_000,
    formatDeadlineMs: 20_000,
    onChild: async (child) => {
      started.push(child);
    },
    ...more,
  });
  const isGone = () => started.every(({ pid }) => !existsSync(`/proc/${pid}`));

  it("gives back what the child said, and how it ended", async () => {
    const result = await runner("console.log(JSON.parse(line).kind); process.exitCode=3").run(probe, operation());
    expect(result).to.deep.equal({ code: 3, stdout: "probe\n", stderr: "" });
  });

  it("of one that says too much the last lines count, none of them cut", async () => {
    const script =
      "const w=(s)=>process.stderr.write(s);w('secret '.repeat(1e4));w('\\nlast '+'.'.repeat(6e4)+'\\nend\\n')";
    const { stderr } = await runner(script).run(probe, operation());
    expect(stderr.slice(0, 6), "the beginning").to.equal("last .");
    expect(stderr.slice(-5)).to.equal("\nend\n");
  });

  it("tells whole lines, however they are written", async () => {
    const lines: string[] = [];
    const script = "process.stdout.write('half a sec'); setTimeout(() => process.stdout.write('ret\\nrest'), 100)";
    await runner(script).run(probe, operation(), { onLine: (line) => lines.push(line) });
    expect(lines).to.deep.equal(["half a secret", "rest"]);
  });

  it("a child is told nothing before it is written down, and is given up when it cannot be", async () => {
    const directory = mkdtempSync(join(tmpdir(), "nvo-child-"));
    const told = `${directory}/told`;
    const script = `require("fs").writeFileSync(${JSON.stringify(told)},"")`;
    const onChild = async (child: ChildProcessID) => {
      started.push(child);
      expect(existsSync(told)).to.equal(false);
      throw new VolumeError("JournalFailed", "transient", "full");
    };
    const error = await volumeFailure(runner(script).run(probe, operation({ onChild })));
    expect(error).to.include({ reason: "JournalFailed", errorClass: "transient" });
    expect(isGone()).to.equal(true);
    expect(existsSync(told)).to.equal(false);
    rmSync(directory, { recursive: true });
  });

  it("no answer by the deadline: killed, and uncertain", async () => {
    const error = await volumeFailure(runner("setInterval(()=>{},1e6)").run(probe, operation({ deadlineMs: 500 })));
    expect(error).to.include({ reason: "TimedOut", errorClass: "uncertain" });
    expect(isGone()).to.equal(true);
  });

  it("one that writes while all is well is given up only when it has written nothing for a deadline", async () => {
    const deadlines: (() => void)[] = [];
    const given: Timers = {
      ...timers,
      after(ms, fire) {
        if (ms !== 777) return timers.after(ms, fire);
        deadlines.push(fire);
        return () => {};
      },
    };
    const heard = Promise.withResolvers<void>();
    const child = runner("console.log('so far'); setInterval(()=>{},1e6)", given);
    const options = { writesWhileWell: true, onLine: () => heard.resolve() };
    const failed = volumeFailure(child.run(probe, operation({ deadlineMs: 777 }), options));
    await heard.promise;
    deadlines[0]?.();
    await until("its deadline to begin anew", 5_000, () => deadlines.length === 2);
    expect(isGone()).to.equal(false);
    deadlines[1]?.();
    expect(await failed).to.include({ reason: "TimedOut" });
    expect(isGone()).to.equal(true);
  });

  it("one that writes for ever is killed all the same, when it has had the time that it may have in all", async () => {
    const child = runner("setInterval(() => console.log('further'), 20)");
    const error = await volumeFailure(
      child.run(probe, operation({ deadlineMs: 5_000 }), { writesWhileWell: true, atMostMs: 400 }),
    );
    expect(error).to.include({ reason: "TimedOut", errorClass: "uncertain" });
    expect(isGone()).to.equal(true);
  });

  it("one that nobody wants any more is killed, and uncertain", async () => {
    for (const when of ["before it runs", "while it runs"]) {
      const unwanted = new AbortController();
      if (when === "before it runs") unwanted.abort();
      const options = { writesWhileWell: true, onLine: () => unwanted.abort(), unwanted: unwanted.signal };
      const child = runner("setInterval(() => console.log('further'), 50)");
      const error = await volumeFailure(child.run(probe, operation(), options));
      expect(error, when).to.include({ reason: "SetUpFailed", errorClass: "uncertain" });
      expect(isGone()).to.equal(true);
    }
  });

  it("one that goes through files and writes begins its time anew, after which it is slow", async () => {
    const slowMs = 10_000;
    let begun = 0;
    const given: Timers = {
      ...timers,
      after(ms, fire) {
        if (ms !== slowMs) return timers.after(ms, fire);
        begun++;
        return () => {};
      },
    };
    const request = { path: "/none", mountID: 1, device: "0:1", fsGroup: 1, policy: "Always" } as const;
    const twice = "console.log(1); setTimeout(() => console.log(2), 50)";
    for (const [child, times] of [
      [{ kind: "giveToGroup", request, agent: process.pid }, 3],
      [probe, 1],
    ] as const) {
      begun = 0;
      await runner(twice, given).run(child, operation({ volume: "v" }));
      expect(begun, child.kind).to.equal(times);
    }
  });

  it("a child that does not end even then is abandoned, uncertain, and named", async () => {
    // Every deadline is over before the kernel can have said that the child has ended.
    const noTime: Timers = {
      after(_ms, action) {
        queueMicrotask(action);
        return () => {};
      },
    };
    const error = await volumeFailure(runner("setInterval(()=>{},1e6)", noTime).run(probe, operation()));
    expect(error).to.include({ reason: "OperationAbandoned", errorClass: "uncertain" });
    expect(error.message).to.contain(`process ${started[0]?.pid}`);
    await until("the child to be gone", 10_000, isGone);
  });

  it("a child that something else killed is uncertain: it may have done what it was told", async () => {
    const error = await volumeFailure(runner("process.kill(process.pid,'SIGKILL')").run(probe, operation()));
    expect(error).to.include({ reason: "SetUpFailed", errorClass: "uncertain" });
    expect(error.message).to.contain("SIGKILL");
  });

  it("a failure that the child reports keeps its reason and class; a child that breaks is uncertain", async () => {
    const real = new ChildRunner({ timers, command: childCommand() });
    const target = { prefix: "/proc", path: "/proc/self/status" };
    const refused = await volumeFailure(new ChildMounter(real, operation()).makeTarget(target, "directory"));
    expect(refused.reason).to.be.oneOf(["SymlinkInPath", "TargetNotDirectory"]);
    expect(refused.errorClass).to.equal("final");
    const broken = new ChildMounter(runner("process.exitCode=1"), operation());
    expect(await volumeFailure(broken.makeTarget(target, "directory"))).to.include({ errorClass: "uncertain" });
  });

  it("a program that the child refuses to become is a failure, and none that has ended well", async () => {
    const real = new ChildRunner({ timers, command: childCommand() });
    const meant = { file: "/sys/not-there", text: "x" };
    const program = { kind: "exec", file: "/bin/sh", args: ["-c", "exit 3"] } as const;
    const refused = await volumeFailure(runProgram(real, { ...program, meant }, operation()));
    expect(refused).to.include({ reason: "DeviceBusy", errorClass: "transient" });
    expect((await runProgram(real, program, operation())).code).to.equal(3);
  });
});
