import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { pidOf } from "../../hack/lib/pid-of.ts";
import { root } from "../../hack/lib/root.ts";
import { silent } from "../../hack/lib/silent-log.ts";
import { VolumeError } from "../../src/errors.ts";
import { type LinuxHost, linuxHost } from "../../src/host/linux/linux-host.ts";
import { loadLibc } from "../../src/host/linux/syscall/libc.ts";
import { parseMountinfo } from "../../src/host/mount-table/mountinfo.ts";
import type { Programs } from "../../src/host/ports/programs.ts";
import { realSystem } from "../../src/system.ts";
import { need } from "../lib/asserts/requirements.ts";
import { childCommand } from "../lib/kernel/child-command.ts";

const operation = { deadlineMs: 5_000, formatDeadlineMs: 5_000, onChild: async () => {} };

describe("programs of the node", () => {
  let directory: string;
  let node: ChildProcess;
  const hosts: LinuxHost[] = [];

  before(function () {
    need(this, "root");
  });
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), "nvo-programs-"));
    // A node: a mount namespace in which the directory has what it has nowhere else.
    const script = `mount -t tmpfs node "$1" && printf '#!/bin/sh\\nreadlink /proc/self/ns/mnt; echo "$*" >&2; exit 3\\n' > "$1/driver" && chmod 755 "$1/driver" && echo there && read end`;
    node = spawn("unshare", ["-m", "--propagation", "private", "sh", "-c", script, "sh", directory]);
    await once(node.stdout as NodeJS.ReadableStream, "data");
  });
  afterEach(async () => {
    node.stdin?.end();
    await once(node, "exit");
    for (const host of hosts.splice(0)) host.close();
    rmSync(directory, { recursive: true });
  });

  function programs(place: { hostRoot?: string; nodeProcess?: number }): Programs {
    const host = linuxHost({
      stateDir: directory,
      ranBefore: false,
      childCommand: childCommand(),
      system: realSystem(silent),
      libc: loadLibc(),
      ...place,
    });
    hosts.push(host);
    return host.effects(operation).programs;
  }

  it("run in its mount namespace, with their arguments as they are", async () => {
    const there = programs({ nodeProcess: pidOf(node) });
    const { code, stdout, stderr } = await there.run(`${directory}/driver`, ["mount", "a  b", "$HOME"]);
    expect([code, stderr]).to.deep.equal([3, "mount a  b $HOME\n"]);
    expect(stdout.trim()).to.equal(readlinkSync(`/proc/${node.pid}/ns/mnt`));
  });

  it("mount what reaches the agent, where the mount is shared with it (Bidirectional)", async () => {
    const shared = join(directory, "state");
    mkdirSync(join(shared, "staging"), { recursive: true });
    execFileSync("mount", ["-t", "tmpfs", "state", shared]);
    execFileSync("mount", ["--make-shared", shared]);
    const other = spawn("unshare", ["-m", "--propagation", "unchanged", "sh", "-c", "echo there && read end"]);
    try {
      await once(other.stdout, "data");
      mkdirSync(join(shared, "staging"));
      cpSync(join(root, "test/drivers/flex/memory"), join(shared, "memory"));
      const there = programs({ nodeProcess: pidOf(other) });
      const { code, stdout } = await there.run(join(shared, "memory"), ["mount", join(shared, "staging"), "{}"]);
      expect([code, stdout]).to.deep.equal([0, '{"status": "Success"}\n']);
      const here = parseMountinfo(readFileSync("/proc/self/mountinfo", "utf8"));
      expect(here.find(({ point }) => point === join(shared, "staging"))?.source).to.equal("flex-memory");
    } finally {
      other.stdin.end();
      await once(other, "exit");
      execFileSync("umount", ["-R", shared]);
    }
  });

  it("are not looked for elsewhere", async () => {
    expect(await programs({}).identify(`${directory}/driver`)).to.equal(undefined);
    const failure = await programs({ hostRoot: "/host" })
      .run(`${directory}/driver`, ["init"])
      .catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(VolumeError);
    expect(String(failure)).to.include("run the agent with hostPID");
  });

  it("are others once they are replaced, written over, or may not be run", async () => {
    const here = programs({});
    const path = `${directory}/own`;
    const write = (text: string, mode: number) => writeFileSync(path, text, { mode });
    write("one", 0o755);
    const first = await here.identify(path);
    expect(first).to.be.a("string");
    expect(await here.identify(path)).to.equal(first);
    write("other", 0o755);
    expect(await here.identify(path)).not.to.equal(first);
    rmSync(path);
    write("one", 0o644);
    expect(await here.identify(path)).to.equal(undefined);
  });
});
