import { once } from "node:events";
import { readFileSync } from "node:fs";
import { expect } from "chai";
import { testDeadline } from "../../hack/lib/test-deadline.ts";
import { until } from "../../hack/lib/until.ts";
import { ChildStarter } from "../../src/host/linux/child/child-starter.ts";
import type { Timers } from "../../src/ports.ts";

describe("ChildStarter", () => {
  const started: ReturnType<ChildStarter["start"]>[] = [];
  let quiet: (() => void)[];
  /** Time passes when the test says so. */
  const fakeTimers: Timers = {
    after(_ms, action) {
      quiet.push(action);
      return () => {
        quiet = quiet.filter((other) => other !== action);
      };
    },
  };
  /** A child that says its pid for each line that it is told. */
  const echo = 'require("readline").createInterface({input:process.stdin}).on("line",()=>console.log(process.pid))';
  let starter: ChildStarter;

  beforeEach(() => {
    quiet = [];
    starter = new ChildStarter({ timers: fakeTimers, command: [process.execPath, "-e", echo] });
  });
  afterEach(async () => {
    starter.close();
    for (const child of started.splice(0)) {
      child.kill("SIGKILL");
      await child.ended;
    }
  });

  function start(again: boolean) {
    const child = starter.start(again);
    started.push(child);
    return child;
  }
  function passes() {
    for (const action of quiet.splice(0)) action();
  }
  const holding = () => process.getActiveResourcesInfo().filter((name) => name === "PipeWrap").length;

  /** With those that have ended and of whose end this process has not yet heard. */
  const ownChildren = () => readFileSync(`/proc/self/task/${process.pid}/children`, "utf8").trim().split(" ");

  it("keeps a spare one once a volume needed one, which does not keep the agent from ending", async () => {
    start(false);
    expect(quiet, "of no volume").to.deep.equal([]);
    start(true);
    const before = holding();
    const others = ownChildren();
    passes();
    expect(ownChildren()).to.have.length(others.length + 1);
    expect(holding(), "not counted as what the process waits for").to.equal(before);
    const spare = start(true);
    expect(holding(), "from now on it does").to.equal(before + 3);
    expect(quiet, "the next spare one comes later").to.have.length(1);
    spare.stdin.write("\n");
    const [said] = await once(spare.stdout, "data");
    expect(Number(said)).to.equal(spare.pid);
  });

  it("ends the spare one when it is closed, and keeps no other", async () => {
    start(true);
    const others = ownChildren();
    passes();
    const spares = ownChildren().filter((pid) => !others.includes(pid));
    expect(spares).to.have.length(1);
    starter.close();
    await until("the spare one to end", testDeadline(5_000), () => !ownChildren().includes(spares[0] ?? ""));
    start(true);
    starter.close();
    expect(quiet, "what was to start the next").to.deep.equal([]);
  });

  it("does not hand out a spare one that has ended", async () => {
    const dying = new ChildStarter({ timers: fakeTimers, command: [process.execPath, "-e", ""] });
    const first = dying.start(true);
    await first.ended;
    passes(); // a spare one, which ends at once as the first did
    const again = () => {
      const child = dying.start(true);
      started.push(child);
      return child;
    };
    const second = again();
    await second.ended;
    const others = ownChildren();
    passes();
    const spares = ownChildren().filter((pid) => !others.includes(pid));
    expect(spares).to.have.length(1);
    await until("its end to be heard", 10_000, () => !spares.some((pid) => ownChildren().includes(pid)));
    const third = again();
    expect(third.isRunning, "another one was started").to.equal(true);
    await third.ended;
    dying.close();
  });
});
