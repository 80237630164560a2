import { type ChildProcess, spawn } from "node:child_process";
import { accessSync, constants, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { cgroupOf, removeCgroup } from "../../hack/lib/kubelet-node/cgroups.ts";
import { skipBecause } from "../../hack/lib/lanes/skip-reason.ts";
import { pidOf } from "../../hack/lib/pid-of.ts";
import { newRunId } from "../../hack/lib/sandbox/outside.ts";
import { until } from "../../hack/lib/until.ts";
import { need } from "../lib/asserts/requirements.ts";
import { childCommand } from "../lib/kernel/child-command.ts";

const [program, ...args] = childCommand();
/** Where a hierarchy of version 2 is, alone or beside those of version 1. */
const tops = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"];

function isWritable(path: string): boolean {
  try {
    accessSync(`${path}/cgroup.procs`, constants.W_OK);
    return existsSync(`${path}/cgroup.controllers`);
  } catch {
    return false; // read-only, or not there
  }
}

describe("a program that is to outlive its container, with cgroups of version 2", function () {
  this.timeout(160_000); // in a VM
  let top: string;
  let root: string;
  const started: ChildProcess[] = [];

  before(function () {
    need(this, "root");
    top = tops.find(isWritable) ?? skipBecause(this, "needs cgroups of version 2 that can be made");
  });
  beforeEach(() => {
    root = cgroupOf(newRunId());
    mkdirSync(container(), { recursive: true });
  });
  afterEach(async () => {
    for (const one of started.splice(0)) one.kill("SIGKILL");
    await removeCgroup(root);
  });

  const container = () => `${top}${root}/kubepods/pod1/agent`;
  const whereIs = (pid: number) => /^0::(.*)$/m.exec(readFileSync(`/proc/${pid}/cgroup`, "utf8"))?.[1];

  /**
   * Starts what stands in the container, in a cgroup namespace of its own as there.
   * @returns once it is what it was told to be
   */
  async function start(request: object): Promise<number> {
    const enter = `{ echo -997 >/proc/self/oom_score_adj; } 2>/dev/null; echo 0 >${container()}/cgroup.procs && exec unshare --cgroup ${[program, ...args].join(" ")}`;
    const one = spawn("sh", ["-c", enter], { stdio: ["pipe", "inherit", "inherit"] });
    started.push(one);
    one.stdin?.end(`${JSON.stringify(request)}\n`);
    await until("it to be sleep", 60_000, () =>
      readFileSync(`/proc/${one.pid}/cmdline`, "utf8").startsWith("/usr/bin/sleep"),
    );
    return pidOf(one);
  }

  it("is beside the pods, and goes on when the runtime ends all that is in the container", async () => {
    const sleep = { kind: "exec", file: "/usr/bin/sleep", args: ["1000"] };
    const [stays, leaves] = [await start(sleep), await start({ ...sleep, outlives: { hostRoot: "/" } })];
    expect(whereIs(leaves)).to.equal(`${root}/nodevolume`);
    expect(whereIs(stays)).to.equal(`${root}/kubepods/pod1/agent`);
    const score = (pid: number) => readFileSync(`/proc/${pid}/oom_score_adj`, "latin1").trim();
    // Only who may (CAP_SYS_RESOURCE) is spared at all; in the VM root may.
    expect(["-997", "0"]).to.include(score(stays));
    expect(score(leaves), "who leaves is no longer spared").to.equal("0");
    const [ended] = started;
    writeFileSync(`${container()}/cgroup.kill`, "1");
    await until("the container to be ended", 10_000, () => ended?.signalCode === "SIGKILL");
    expect(whereIs(leaves)).to.equal(`${root}/nodevolume`);
    expect(started[1]?.exitCode).to.equal(null);
    expect(started[1]?.signalCode).to.equal(null);
  });

  it("gets the memory of a header that we make and no more, if it needs much and cannot leave", async () => {
    const limitOf = async (request: object) => {
      const one = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
      started.push(one);
      let said = "";
      one.stdout?.setEncoding("utf8").on("data", (text: string) => {
        said += text;
      });
      const file = { kind: "exec", file: "/usr/bin/cat", args: ["/proc/self/limits"], ...request };
      one.stdin?.end(`${JSON.stringify(file)}\n`);
      await until("it to have ended", 60_000, () => one.exitCode !== null && said !== "");
      return /^Max address space +(\S+)/m.exec(said)?.[1];
    };
    const outlives = { hostRoot: "/nonexistent" };
    expect(await limitOf({ heavy: true, outlives })).to.equal(`${128 << 20}`);
    expect(await limitOf({ outlives })).to.equal("unlimited");
  });

  it("is started all the same where it cannot leave, and says why", async () => {
    const one = spawn(program, args, { stdio: ["pipe", "inherit", "pipe"] });
    started.push(one);
    let said = "";
    one.stderr?.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
    one.stdin?.end(
      `${JSON.stringify({ kind: "exec", file: "/usr/bin/sleep", args: ["0"], outlives: { hostRoot: "/nonexistent" } })}\n`,
    );
    await until("it to have ended", 60_000, () => one.exitCode !== null);
    expect(one.exitCode).to.equal(0);
    expect(said).to.match(/^stays in the container: .*ENOENT.*nonexistent/);
  });
});
