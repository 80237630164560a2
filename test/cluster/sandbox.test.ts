import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { lookForTraces, type Traces } from "../../hack/lib/lanes/leftovers.ts";
import { pidOf } from "../../hack/lib/pid-of.ts";
import { root } from "../../hack/lib/root.ts";
import { newRunId, runVariable } from "../../hack/lib/sandbox/outside.ts";
import { until } from "../../hack/lib/until.ts";
import { leftOf } from "../lib/asserts/left-of.ts";
import { need } from "../lib/asserts/requirements.ts";

/** What runs in the sandbox: processes (one ignores every signal it can), a mount, and a file. */
const mess = `
  mount -t tmpfs nodevolume-mess /mnt && echo x >/tmp/nodevolume-mess
  (trap '' INT TERM HUP; exec sleep 1000) &
  setsid sleep 1000 &
  echo ready
  wait`;

/** npm, its shell, our process outside, unshare, and the first process inside. */
const victims = ["npm", "outside", "unshare", "init"] as const;

describe("sandbox", () => {
  before(function () {
    need(this, "root");
  });

  for (const stopped of [false, true]) {
    for (const victim of victims) {
      it(`leaves nothing when ${victim} is killed${stopped ? " while all of it is stopped" : ""}`, async () => {
        const run = await start();
        const pids = run.pids();
        if (stopped) for (const pid of pids.all) process.kill(pid, "SIGSTOP");
        process.kill(pids[victim], "SIGKILL");
        if (stopped && victim !== "npm") {
          // Those outside may stay stopped; what is inside is gone.
          await until("the inside to be gone", 5_000, () => pids.inside.every(isDead));
          for (const pid of pids.all) tryKill(pid, "SIGCONT");
        }
        expect(await leftOf(run)).to.deep.equal([]);
        await run.gone;
      });
    }
  }

  it("passes on the exit code", async () => {
    const { code } = await finish(["sh", "-c", "exit 7"]);
    expect(code).to.equal(7);
  });

  it("has /tmp and /mnt on tmpfs, and the repository where it was", async () => {
    const { code } = await finish([
      "sh",
      "-ec",
      `grep -q ' /tmp .* - tmpfs ' /proc/self/mountinfo; grep -q ' /mnt .* - tmpfs ' /proc/self/mountinfo; test -f '${root}/package.json'`,
    ]);
    expect(code).to.equal(0);
  });

  it("ends its command with SIGTERM on SIGTERM, and at once on a second one", async () => {
    const patient = spawnSandbox(
      ["sh", "-c", "trap 'exit 3' TERM; echo ready; while :; do sleep 0.05; done"],
      newRunId(),
    );
    await firstLine(patient);
    patient.kill("SIGTERM");
    expect(await ending(patient)).to.equal(3);
    const stubborn = spawnSandbox(
      ["sh", "-c", "trap 'echo taken' TERM; echo ready; while :; do sleep 0.05; done"],
      newRunId(),
    );
    await firstLine(stubborn);
    const ended = ending(stubborn);
    stubborn.kill("SIGTERM");
    await firstLine(stubborn); // two signals at once would be one
    stubborn.kill("SIGTERM");
    expect(await ended).to.equal(137);
  });
});

const script = join(root, "hack/lib/sandbox/run.ts");

function spawnSandbox(command: readonly string[], id: string): ChildProcess {
  return spawn(process.execPath, [script, ...command], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, [runVariable]: id },
  });
}

/** A stand-in for npm: Node that runs a shell that runs our script, as package.json says it. */
async function start() {
  const id = newRunId();
  const before: Traces = lookForTraces();
  const fakeNpm = `require("node:child_process").spawn("sh", ["-c", process.argv[1]], { stdio: "inherit" })`;
  const line = `exec '${process.execPath}' '${script}' sh -c "${mess.replaceAll("\n", " ; ").replaceAll("& ;", "&").replace(/^ ; /, "")}"`;
  const npm = spawn(process.execPath, ["-e", fakeNpm, "--", line], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, [runVariable]: id, npm_lifecycle_event: "test" },
  });
  const gone = new Promise<void>((resolve) => npm.on("exit", () => resolve()));
  await firstLine(npm);
  return {
    id,
    before,
    gone,
    pids() {
      const [outside = 0] = children(pidOf(npm));
      const [unshare = 0] = children(outside);
      const [init = 0] = children(unshare);
      const inside = descendants(init);
      return { npm: pidOf(npm), outside, unshare, init, inside, all: [...inside, init, unshare, outside] };
    },
  };
}

async function finish(command: readonly string[]) {
  const child = spawnSandbox(command, newRunId());
  return { code: await ending(child) };
}

function ending(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => child.on("exit", (code) => resolve(code)));
}

function firstLine(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.stdout?.once("data", () => resolve());
    child.once("exit", (code) => reject(new Error(`ended with ${code} before it was ready`)));
  });
}

function children(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
  return text === "" ? [] : text.split(" ").map(Number);
}

function descendants(pid: number): number[] {
  return children(pid).flatMap((child) => [...descendants(child), child]);
}

/** Gone, or a zombie that only waits to be counted. */
function isDead(pid: number): boolean {
  try {
    return /\) Z /.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return true;
  }
}

function tryKill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It is gone, which is what the test is about.
  }
}
