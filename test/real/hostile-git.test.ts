import { execFileSync, spawn } from "node:child_process";
import {
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { root } from "../../hack/lib/root.ts";
import { until } from "../../hack/lib/until.ts";
import { sandboxUID } from "../../src/host/linux/child/confined.ts";
import type { TreeEntry } from "../../src/host/linux/git/tree-entries.ts";
import { writeTree } from "../../src/host/linux/git/write-tree.ts";
import { Descriptor } from "../../src/host/linux/syscall/descriptor.ts";
import { ifThere } from "../../src/host/linux/syscall/errno.ts";
import { loadLibc } from "../../src/host/linux/syscall/libc.ts";
import { loadSandboxCalls } from "../../src/host/linux/syscall/sandbox-calls.ts";
import { GitWorld } from "../lib/kernel/agents/git-world.ts";
import { withEach } from "../lib/kernel/with-node.ts";

const nowhere = "0123456789".repeat(4);

/** The pids of a process group that have not ended, by the names of their programs. */
function namesIn(group: number): ReadonlyMap<string, number> {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  const stats = pids.flatMap((pid) => ifThere(() => readFileSync(`/proc/${pid}/stat`, "latin1")) ?? []);
  const running = stats.flatMap((stat) => {
    const [, pid, name = "", state, pgrp] = /^(\d+) \((.*)\) (\S) \d+ (\d+) /s.exec(stat) ?? [];
    return Number(pgrp) === group && state !== "Z" ? [[name, Number(pid)] as const] : [];
  });
  return new Map(running);
}

describe("what hostile people put into a git repository, on the real kernel", function () {
  this.timeout(60_000); // six processes a fetch, on machines that have others at work
  let world: GitWorld;

  withEach(GitWorld, ["git"], (made) => {
    world = made;
  });

  /** Everything on the node that a write elsewhere would change. */
  const elsewhere = () =>
    ["", "src", "mnt", "csi", "kubelet"].map((at) => [at, readdirSync(`${world.node.path}/${at}`).sort()]);

  it("hooks, filters, submodules and links are files, or nothing: none is run or followed", async () => {
    const canary = `${world.node.path}/canary`;
    const payload = `#!/bin/sh\ntouch ${canary}\n`;
    const attributes = "* filter=evil diff=evil merge=evil ident export-subst text eol=crlf\nhidden export-ignore\n";
    const config = `[core]\n\tfsmonitor = ${canary}\n\thooksPath = hooks\n[filter "evil"]\n\tsmudge = touch ${canary}\n`;
    const revision = world.commit(
      world.file(".gitattributes", attributes),
      world.file(".gitconfig", config),
      world.file(".gitmodules", `[submodule "sub"]\n\tpath = sub\n\turl = ${world.server.address("app.git")}\n`),
      world.file("HEAD", "ref: refs/heads/main\n"),
      world.file("absolute", "/etc/passwd", "120000"),
      world.file("config", config),
      world.file("hidden", "$Id$ $Format:%H$\n"),
      world.directory("hooks", ...["post-checkout", "post-merge"].map((name) => world.file(name, payload, "100755"))),
      world.file("outside", `../../../../../..${canary}`, "120000"),
      { mode: "60000", name: "sda", object: world.repository.blob("x") },
      { mode: "160000", name: "sub", object: nowhere },
    );
    const path = await world.shown(revision);
    expect(existsSync(canary)).to.equal(false);
    expect(readFileSync(`${path}/hidden`, "utf8")).to.equal("$Id$ $Format:%H$\n");
    expect(readFileSync(`${path}/hooks/post-checkout`, "utf8")).to.equal(payload);
    expect(readlinkSync(`${path}/absolute`)).to.equal("/etc/passwd");
    expect(readlinkSync(`${path}/outside`)).to.equal(`../../../../../..${canary}`);
    expect(readdirSync(`${path}/sub`)).to.deep.equal([]);
    expect(readdirSync(`${path}/sda`), "a device node, which git takes for a submodule").to.deep.equal([]);
    const asked = world.server.requests.filter((request) => request.includes("info/refs"));
    expect(asked.length, "submodules are not asked for").to.equal(1);
  });

  /** A name as it is in bytes. */
  function rawName(name: Buffer): string {
    const object = Buffer.from(world.repository.blob("x"), "hex");
    const tree = Buffer.concat([Buffer.from("100644 "), name, Buffer.from([0]), object]);
    return world.repository.git(["hash-object", "-w", "-t", "tree", "--literally", "--stdin"], tree);
  }

  const canary = () => world.file("canary", "x");
  const hostile: readonly { readonly title: string; readonly commit: () => string }[] = [
    { title: "a directory .. with a file in it", commit: () => world.commit(world.directory("..", canary())) },
    { title: "a name with a path in it", commit: () => world.commit(world.file("../../../canary", "x")) },
    { title: "a directory .git", commit: () => world.commit(world.directory(".git", world.file("config", "x"))) },
    { title: "a .GIT with a space of no width", commit: () => world.commit(world.directory(".g\u200cIt", canary())) },
    {
      title: "a link, and a file beneath it",
      commit: () => world.commit(world.file("a", world.node.path, "120000"), world.directory("a", canary())),
    },
    {
      title: "a submodule whose address is an option",
      commit: () =>
        world.commit(world.file(".gitmodules", '[submodule "a"]\n\tpath = a\n\turl = --upload-pack=touch /canary\n'), {
          mode: "160000",
          name: "a",
          object: nowhere,
        }),
    },
    { title: "a name that is not UTF-8", commit: () => world.repository.commit(rawName(Buffer.from([0x61, 0xff]))) },
  ];

  for (const { title, commit } of hostile) {
    it(`${title} is refused, and nothing is written anywhere else`, async () => {
      const revision = commit();
      const before = elsewhere();
      const found = await world.failure(revision);
      expect(`${found?.reason}: ${found?.message}`).to.match(/^ContentRefused: .*in the repository/);
      expect(elsewhere()).to.deep.equal(before);
      expect(existsSync("/canary")).to.equal(false);
    });
  }

  it("writes nothing elsewhere even if git itself says that there is something", async () => {
    const place = `${world.node.path}/src/new`;
    mkdirSync(place);
    using root = new Descriptor(openSync(place, constants.O_RDONLY | constants.O_DIRECTORY));
    const entry = (path: string, kind: TreeEntry["kind"] = "file") => ({ kind, object: path, size: 1, path });
    // Each link leads to the directory above.
    const read = async (_: string, __: number, take: (bytes: Buffer) => void) => take(Buffer.from(".."));
    const write = (...entries: readonly TreeEntry[]) =>
      writeTree(loadLibc(), loadSandboxCalls(), root, entries, read, () => {}).then(
        () => "written",
        (error: { reason?: string }) => error.reason ?? error,
      );
    expect(await write(entry("../canary"))).to.equal("ContentRefused");
    expect(await write(entry("link", "link"), entry("link/canary"))).to.equal("ContentRefused");
    expect(await write(entry("dir/link", "link"), entry("dir/link/x/canary"))).to.equal("ContentRefused");
    expect(await write(entry("twice", "link"), entry("twice"))).to.equal("ContentRefused");
    expect(readdirSync(`${world.node.path}/src`).sort()).to.deep.equal(["app.git", "new"]);
    expect(readdirSync(place).sort()).to.deep.equal(["dir", "link", "twice"]);
  });

  const main = fileURLToPath(new URL("../lib/kernel/programs/sandbox-main.ts", import.meta.url));

  it("git ends with the unshare(1) that started it, though it is of another user", async () => {
    const work = `${world.node.path}/src/work`;
    mkdirSync(work);
    const child = spawn(process.execPath, [main, work, "exec sleep 120"], { detached: true, stdio: "ignore" });
    const pid = child.pid ?? 0;
    try {
      await until("what stands for git", 10_000, () => namesIn(pid).has("sleep"));
      const started = namesIn(pid);
      expect(statSync(`/proc/${started.get("sleep")}`).uid).to.equal(sandboxUID);
      process.kill(started.get("unshare") ?? 0, "SIGKILL");
      await until("its end", 1_000, () => !namesIn(pid).has("sleep"));
    } finally {
      ifThere(() => process.kill(-pid, "SIGKILL"));
    }
  });

  it("runs git where it can neither write nor look, as a user of its own without rights", () => {
    const { path } = world.node;
    const work = `${path}/src/work`;
    mkdirSync(work, 0o700); // as data directories are
    writeFileSync(`${path}/secret`, "everybody may read it", { mode: 0o644 });
    const script = [
      `for d in / /usr /etc /dev /repository ${path} ${work} ${work}/repository /tmp /var/tmp; do touch $d/canary 2>/dev/null && echo wrote $d; done`,
      `cat ${path}/secret 2>/dev/null; ls /; echo user $(id -u) $(id -G); echo pid $$`,
      "mount -t tmpfs x /repository 2>/dev/null && echo mounted; chroot /repository 2>/dev/null && echo chroot",
      "head -c 200000 /dev/urandom > big; setpriv --dump | grep -i 'capabilit\\|no_new'",
      `unshare --user true && echo user namespace; git ls-remote http://127.0.0.1:9/app.git`,
    ].join("\n");
    const said = execFileSync(process.execPath, [main, work, script], { encoding: "utf8", stdio: "pipe" }).split("\n");
    expect(said.filter((line) => line.startsWith("wrote "))).to.deep.equal(["wrote /repository"]);
    expect(said).to.include.members([
      `user ${sandboxUID} ${sandboxUID}`,
      "pid 1",
      "usr",
      "repository",
      "no_new_privs: 1",
    ]);
    const shown = [path, root, process.execPath]; // Node and the program are, where they stand
    const nowhere = ["home", "proc", "tmp", "var"].filter((top) => !shown.some((at) => at.startsWith(`/${top}/`)));
    for (const never of ["everybody may read it", "mounted", "chroot", "user namespace", ...nowhere]) {
      expect(said, never).to.not.include(never);
    }
    expect(said.join("\n"), "loopback is refused by its server, if the network is the node's").to.match(
      /unable to access 'http:\/\/127.0.0.1:9\/app.git\/': .*(unreachable|Couldn't connect|Failed to connect)/i,
    );
    const capabilities = said.filter((line) => line.includes("apabilit")).map((line) => line.split(": ")[1]);
    expect([...new Set(capabilities)]).to.deep.equal(["[none]"]);
    expect(statSync(`${work}/repository/big`).size, "of 100,000 bytes that are allowed").to.equal(100_000);
  });
});
