import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { until } from "../../hack/lib/until.ts";
import { SpawnedProcess } from "../../src/host/linux/child/spawned-process.ts";
import { errnoOf, ifThere } from "../../src/host/linux/syscall/errno.ts";
import { need } from "../lib/asserts/requirements.ts";

describe("SpawnedProcess", () => {
  const descriptors = () => readdirSync("/proc/self/fd").length;
  const shell = (script: string, ...args: string[]) =>
    new SpawnedProcess({ file: "/bin/sh", args: ["-c", script, "sh", ...args], env: ["GIVEN=given"] });

  it("has its arguments and nothing but its environment, and a pipe to each stream", async () => {
    const child = shell('read line; echo "$line $1 $2"; env | grep GIVEN; echo bad >&2; exit 7', "a b", "");
    child.stdin.end("said\n");
    const [output, errors, ending] = await Promise.all([text(child.stdout), text(child.stderr), child.ended]);
    expect(output).to.equal("said a b \nGIVEN=given\n");
    expect(errors).to.equal("bad\n");
    expect(ending).to.deep.equal({ code: 7, signal: null });
  });

  it("hears the end of its input", async () => {
    const child = new SpawnedProcess({ file: "/bin/cat", args: [], env: [] });
    child.stdin.end();
    expect(await child.ended).to.deep.equal({ code: 0, signal: null });
  });

  it("says which signal ended it, is reaped, and leaves no descriptor", async () => {
    const before = descriptors();
    const child = shell("echo begun; read forever");
    expect(child.isRunning).to.equal(true);
    // Where vfork(2) copies, as in QEMU's user mode, it has no group of its own at first.
    await once(child.stdout, "data");
    child.kill("SIGKILL");
    expect(await child.ended).to.deep.equal({ code: null, signal: "SIGKILL" });
    expect(child.isRunning).to.equal(false);
    expect(existsSync(`/proc/${child.pid}`), "no zombie").to.equal(false);
    child.kill("SIGKILL"); // whoever has its pid now is not meant
    expect(descriptors()).to.equal(before);
  });

  it("takes what it has started along when it is ended, and waits for no daemon that keeps its output", async () => {
    const child = shell("sleep 1000 & echo $!; setsid sleep 3 & wait");
    const [line] = (await once(child.stdout, "data")) as [Buffer];
    child.kill("SIGKILL");
    const started = performance.now();
    expect(await child.ended).to.deep.equal({ code: null, signal: "SIGKILL" });
    expect(performance.now() - started).to.be.lessThan(2_000);
    // It was told in the same moment; it ends when it next gets a processor.
    await until("what it has started to end", 5_000, () => {
      const stat = ifThere(() => readFileSync(`/proc/${line.toString().trim()}/stat`, "utf8"));
      return stat === undefined || / [ZX] /.test(stat);
    });
  });

  it("is ended though it has left its group for another, as hostile code may", async () => {
    const own = Number(readFileSync("/proc/self/stat", "latin1").split(") ")[1]?.split(" ")[2]);
    const leaves = `
      import koffi from "koffi";
      const setpgid = koffi.load(null).func("setpgid", "int", ["int", "int"]);
      console.log(setpgid(0, ${own}));
      setInterval(() => {}, 1000);`;
    const args = ["--input-type=module", "-e", leaves];
    const { NODE_PATH = "" } = process.env; // where the arm64 guest has koffi
    const child = new SpawnedProcess({ file: process.execPath, args, env: [`NODE_PATH=${NODE_PATH}`] });
    const line = await Promise.race([once(child.stdout, "data").then(String), child.ended.then(() => "it has ended")]);
    expect(line, "it is in our group").to.equal("0\n");
    child.kill("SIGKILL");
    expect(await child.ended).to.deep.equal({ code: null, signal: "SIGKILL" });
  });

  it("several that end at once are all told of", async () => {
    const children = Array.from({ length: 20 }, (_, code) => shell(`read now; exit ${code}`));
    for (const child of children) child.stdin.end("now\n");
    const endings = await Promise.all(children.map(({ ended }) => ended));
    expect(endings.map(({ code }) => code)).to.deep.equal(children.map((_, code) => code));
  });

  it("all that it wrote is read before its end is told, also what nobody has read yet when it ends", async () => {
    const child = shell("head -c 100000 /dev/zero");
    let bytes = 0;
    child.stdout.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
    });
    child.stdout.pause();
    await child.ended;
    expect(bytes).to.equal(100_000);
  });

  it("has the signals of a fresh process, though Node ignores SIGPIPE, and of our descriptors none but its three", async () => {
    expect(readFileSync("/proc/self/status", "utf8"), "or the test shows nothing").to.not.match(/^SigIgn:\s0+$/m);
    const other = shell("read forever");
    const child = shell("grep -E '^Sig(Blk|Ign):' /proc/self/status; ls -l /proc/$$/fd");
    const [output] = await Promise.all([text(child.stdout), child.ended]);
    expect(output).to.match(/^SigBlk:\s0{16}\nSigIgn:\s0{16}\n/);
    expect(output.match(/ (\d+) -> socket:/g)?.map((line) => Number(line.split(" ")[1]))).to.deep.equal([0, 1, 2]);
    other.kill("SIGKILL");
    await other.ended;
  });

  it("a program that is not there is said at once, and leaves no descriptor", async function () {
    need(this, "vfork");
    const before = descriptors();
    const start = () => new SpawnedProcess({ file: "/no/such/program", args: [], env: [] });
    expect(start).to.throw(/posix_spawn: ENOENT/);
    expect(descriptors()).to.equal(before);
    try {
      start();
    } catch (error) {
      expect(errnoOf(error)).to.equal("ENOENT");
    }
  });

  it("costs no copy of this process: what is written to afterwards was not made read-only", async function () {
    need(this, "vfork");
    const pages = 10_000;
    const memory = Buffer.alloc(pages * 4096, 1);
    // The kernel takes pages away for reasons of its own, now and then: a copy costs one for each, every time.
    let least = Number.POSITIVE_INFINITY;
    for (let attempt = 0; attempt < 3; attempt++) {
      const child = new SpawnedProcess({ file: "/bin/cat", args: [], env: [] });
      const before = process.resourceUsage().minorPageFault;
      for (let at = 0; at < memory.length; at += 4096) memory[at] = 2;
      least = Math.min(least, process.resourceUsage().minorPageFault - before);
      child.stdin.end();
      await child.ended;
    }
    expect(least).to.be.lessThan(pages / 10);
  });

  it("whoever writes to one that has ended is told by an error of the stream", async () => {
    const child = shell("exec <&-; echo closed; exec sleep 60");
    await once(child.stdout, "data");
    const failed = once(child.stdin, "error");
    child.stdin.write("to nobody");
    const [error] = (await failed) as [unknown];
    expect(errnoOf(error)).to.equal("EPIPE");
    child.kill("SIGKILL");
    await child.ended;
  });
});
