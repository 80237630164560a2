import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { expect } from "chai";
import { processesOf } from "../../hack/lib/lanes/leftovers.ts";
import { slow, slowInGate } from "../../hack/lib/lanes/slow.ts";
import { pidOf } from "../../hack/lib/pid-of.ts";
import { locateTools } from "../../hack/lib/tools/locate.ts";
import { cacheDirectory } from "../../hack/lib/tools/tool.ts";
import { leftOf } from "../lib/asserts/left-of.ts";
import { full, need } from "../lib/asserts/requirements.ts";
import { startQuickstart } from "../lib/cluster/quickstart-run.ts";

/** Milliseconds that a run takes: kills are spread over it. */
const usualRun = 28_000;

describe("npm run quickstart", () => {
  before(async function () {
    need(this, "root");
    this.timeout(20 * 60_000);
    await locateTools({ env: process.env, report: (line) => console.log(`  ${line}`) });
  });

  slowInGate(
    "-- --once shows tables, mounts, a failure, a repair and a killed agent, exits 0 and leaves nothing",
    async () => {
      const run = startQuickstart(["--once"]);
      await run.exits(0);
      for (const text of [
        /nodevolumeset\.nodevolume\.dev\/scratch +True +AllReady +1 +1 +0 +0/,
        /nodevolumeintent\.nodevolume\.dev\/node-1\.scratch-\S+ +node-1 +scratch +scratch +emptyDir +Mounted +True +1 +true/,
        /nodevolumestate\.nodevolume\.dev\/node-1 +True +3 /,
        / \/var\/lib\/nodevolume\/mounts\/scratch rw,nosuid,nodev,noexec,.* - tmpfs /,
        /kubectl nvi explain reports\n[\s\S]*? +[✗…] [^→]*there is no \/mnt\/quickstart-reports[^→]*\(SourceNotFound\b[^→]*\n +→ Create \/mnt\/quickstart-reports on node-1/,
        /mkdir \/mnt\/quickstart-reports, .*\n +mounted by itself \d+ ms later/,
        /it was gone for .* ms, by the kernel's mount table\n +its Event: Warning Drifted node-1\.scratch-\S+: .*\/var\/lib\/nodevolume\/mounts\/scratch/,
        /kill -9 \d+, the agent of node-1\n +started again as \d+, as by a DaemonSet; all 5 mounts stayed, each with its mount id\n.*was back in .* ms/,
        /the kernel agrees: nothing is mounted/,
      ]) {
        run.said(text);
      }
      expect(run.output()).not.to.include("not there yet");
      // Without what npm says first.
      const own = run.output().slice(run.output().indexOf("==> "));
      expect(own.trimEnd().split("\n")).to.have.length.at.most(60);
      expect(await leftOf(run)).to.deep.equal([]);
    },
  );

  slow("stays up until Ctrl-C, tells what to try, and then leaves nothing", async () => {
    const run = startQuickstart([]);
    await run.says("tail -f ");
    const [, KUBECONFIG, PATH = ""] = /export KUBECONFIG=(\S+) PATH="(.+):\$PATH"/.exec(run.output()) ?? [];
    // As in another terminal: kubectl finds its plugin, which finds a node.
    const env = { KUBECONFIG, PATH: `${PATH}:${process.env["PATH"]}`, HOME: tmpdir() };
    const typed = async (...args: string[]) => (await promisify(execFile)("kubectl", args, { env })).stdout;
    expect(await typed("get", "nvs", "-o", "name")).to.include("nodevolumeset.nodevolume.dev/scratch");
    expect(await typed("nvi", "wait", "scratch", "--timeout=30s")).to.equal(
      "nodevolumeset.nodevolume.dev/scratch ready\n",
    );
    // What a terminal does: to every process of the foreground group.
    process.kill(-pidOf(run.npm), "SIGINT");
    await run.ended;
    expect(await leftOf(run)).to.deep.equal([]);
  });

  slow("starts an agent that is killed again, and stays up", async () => {
    const run = startQuickstart([]);
    await run.says("tail -f ");
    const [, agent = ""] = /^ +kill -9 (\d+) /m.exec(run.output()) ?? [];
    expect(readFileSync(`/proc/${agent}/cmdline`, "utf8")).to.include("main.cjs\0agent");
    process.kill(Number(agent), "SIGKILL");
    await run.says("agent of node-1 has ended, and was started again as ");
    process.kill(-pidOf(run.npm), "SIGINT");
    await run.ended;
    expect(await leftOf(run)).to.deep.equal([]);
  });

  slow("leaves nothing when any of its processes is killed at any moment", async function () {
    const kills = full() ? 60 : 4;
    this.timeout(kills * 45_000);
    const killed = new Map<string, number>();
    for (let kill = 0; kill < kills; kill += 1) {
      const run = startQuickstart(["--once"]);
      await Promise.race([sleep(Math.random() * usualRun), run.ended]);
      const victim = kill % 2 === 0 ? run.npm.pid : (pick(pidsOf(run.id)) ?? run.npm.pid);
      const name = `${nameOf(victim ?? 0)} during "${run.step()}"`;
      killed.set(name, (killed.get(name) ?? 0) + 1);
      tryKill(victim ?? 0);
      // A child of the demonstration may be what was killed: then it says so, and cleans up by itself.
      await run.ended;
      expect(await leftOf(run), name).to.deep.equal([]);
      const cache = readdirSync(cacheDirectory(process.env));
      expect(
        cache.filter((entry) => entry.startsWith("tmp-")),
        name,
      ).to.deep.equal([]);
    }
    for (const [name, count] of killed) console.log(`      ${String(count).padStart(3)}  ${name}`);
  });
});

function pidsOf(id: string): number[] {
  return processesOf(id).map((text) => Number(/^process (\d+):/.exec(text)?.[1]));
}

function pick(pids: readonly number[]): number | undefined {
  return pids[Math.floor(Math.random() * pids.length)];
}

function nameOf(pid: number): string {
  try {
    const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
    return words
      .slice(0, 3)
      .map((word) => word.slice(word.lastIndexOf("/") + 1))
      .join(" ");
  } catch {
    return "nothing";
  }
}

function tryKill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It ended by itself a moment before.
  }
}
