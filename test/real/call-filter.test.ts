import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { root as project } from "../../hack/lib/root.ts";
import { errnoOf } from "../../src/host/linux/syscall/errno.ts";
import { need } from "../lib/asserts/requirements.ts";
import { GitWorld } from "../lib/kernel/agents/git-world.ts";
import { ImageWorld } from "../lib/kernel/agents/image-world.ts";
import type { Tried } from "../lib/kernel/programs/filtered-main.ts";
import { tarOf } from "../lib/servers/contract-registry.ts";

describe("the filter of system calls, on the real kernel", () => {
  before(function () {
    need(this, "root");
  });

  const main = fileURLToPath(new URL("../lib/kernel/programs/filtered-main.ts", import.meta.url));
  const run = (how: string) => spawnSync(process.execPath, [main, how], { encoding: "utf8", timeout: 30_000 });
  const tried = (how: string): Tried => {
    const { stdout, stderr } = run(how);
    if (stdout === "") throw new Error(stderr);
    return JSON.parse(stdout) as Tried;
  };

  it("refuses root what the kernel would do for it, also in threads that were there before", () => {
    const free = tried("free");
    expect(Object.values(free.main), "without the filter").to.not.include("EPERM");
    expect(free.main["unshare"]).to.equal("succeeded");
    expect(free.pool).to.deep.equal(Array(4).fill("succeeded"));
    const { main, pool, program, sockets } = tried("filtered");
    const { clone3, ...others } = main;
    const rest = Object.entries(others).filter(([, came]) => came !== "EPERM");
    expect(rest, "not refused").to.deep.equal([]);
    const some = ["mount", "ptrace", "unshare", "setns", "bpf", "mknodat", "adjtimex", "io_uring_enter"];
    expect(Object.keys(others)).to.include.members(some);
    expect(clone3).to.equal("ENOSYS");
    expect(pool).to.deep.equal(Array(4).fill("refused"));
    expect(program, "a program that is started").to.equal(0);
    for (const family of ["ipv4", "ipv6", "routes", "unix", "packet", "uevents"])
      expect(free.sockets[family], `without the filter: ${family}`).to.equal("succeeded");
    const { ipv4, ipv6, routes, ...strange } = sockets;
    expect([ipv4, ipv6, routes]).to.deep.equal(Array(3).fill("succeeded"));
    for (const [family, came] of Object.entries(strange)) expect(came, family).to.equal("EAFNOSUPPORT");
  });

  if (process.arch === "x64")
    it("kills who makes a call of x32", () => {
      expect(run("x32").signal).to.equal("SIGSYS");
    });
});

/** What the kernel says of one thread. */
interface Thread {
  readonly program: string;
  readonly args: readonly string[];
  readonly filter: string;
  /** Filters, beside those that this process has. */
  readonly filters: number;
  readonly noNewRights: string;
  /** The sets of capabilities: effective, permitted, bounding; then inheritable and ambient. */
  readonly rights: readonly string[];
  readonly inherited: readonly string[];
  /** Descriptors of io_uring(7), by which a socket of any family could be made. */
  readonly rings: readonly string[];
  readonly namespaces: { readonly [kind: string]: string };
  /** What it sees in its root directory. */
  readonly root: readonly string[];
}

/** Names of capabilities of linux/capability.h, those that are meant here, by their bits; "all" are too many. */
function namesIn(mask: string): string {
  const names = new Map<number, string>([
    ...([
      [0, "chown"],
      [1, "dac_override"],
      [3, "fowner"],
      [4, "fsetid"],
    ] as const),
    ...([
      [5, "kill"],
      [6, "setgid"],
      [7, "setuid"],
      [8, "setpcap"],
      [21, "sys_admin"],
    ] as const),
  ]);
  const bits = BigInt(`0x${mask}`);
  const set = Array.from({ length: 64 }, (_, one) => one).filter((one) => (bits >> BigInt(one)) & 1n);
  return set.map((one) => names.get(one) ?? `${one}`).join(" ");
}

const kinds = ["net", "pid", "ipc", "uts", "mnt"] as const;
const namespacesOf = (of: string) => Object.fromEntries(kinds.map((kind) => [kind, readlinkSync(`${of}/ns/${kind}`)]));

/** All threads of what this process has started to fetch: it alone goes first when memory runs out. */
function fetching(): Thread[] {
  return descendants(process.pid).flatMap((pid) =>
    unlessGone(() => {
      if (readFileSync(`/proc/${pid}/oom_score_adj`, "latin1").trim() !== "1000") return [];
      const threads = readdirSync(`/proc/${pid}/task`);
      return threads.flatMap((thread) => unlessGone(() => [threadAt(`/proc/${pid}/task/${thread}`)]));
    }),
  );
}

function descendants(pid: number): number[] {
  const threads = unlessGone(() => readdirSync(`/proc/${pid}/task`));
  const children = threads.flatMap((thread) =>
    unlessGone(() => readFileSync(`/proc/${pid}/task/${thread}/children`, "latin1").split(" ")),
  );
  return children.filter(Boolean).flatMap((child) => [Number(child), ...descendants(Number(child))]);
}

/** What a process says that may end at any moment. */
function unlessGone<T>(look: () => T[]): T[] {
  try {
    return look();
  } catch (error) {
    if (["ENOENT", "ESRCH"].includes(errnoOf(error) ?? "")) return [];
    throw error;
  }
}

function filtersOf(process: string): number {
  return Number(/^Seccomp_filters:\s*(\d+)$/m.exec(readFileSync(`${process}/status`, "latin1"))?.[1]);
}

function threadAt(at: string): Thread {
  const status = readFileSync(`${at}/status`, "latin1");
  const value = (key: string) => new RegExp(`^${key}:\\s*(.*)$`, "m").exec(status)?.[1] ?? "";
  return {
    program: readFileSync(`${at}/../../comm`, "latin1").trim(),
    args: readFileSync(`${at}/../../cmdline`, "latin1").split("\0"),
    filter: value("Seccomp"),
    filters: filtersOf(at) - filtersOf("/proc/self"),
    noNewRights: value("NoNewPrivs"),
    rights: ["CapEff", "CapPrm", "CapBnd"].map((set) => namesIn(value(set))),
    inherited: ["CapInh", "CapAmb"].map((set) => namesIn(value(set))),
    rings: readdirSync(`${at}/fd`)
      .flatMap((fd) => unlessGone(() => [readlinkSync(`${at}/fd/${fd}`)]))
      .filter((file) => file.includes("io_uring")),
    namespaces: namespacesOf(at),
    root: readdirSync(`${at}/root`),
  };
}

describe("children that fetch, on the real kernel", function () {
  this.timeout(60_000); // on machines that have others at work

  before(function () {
    need(this, "root", "git");
  });

  const expectFiltered = (threads: readonly Thread[], filters: number) => {
    expect(threads.length).to.be.greaterThan(0);
    for (const thread of threads) {
      // 2: by a filter.
      expect(thread, thread.program).to.include({ filter: "2", noNewRights: "1", filters });
      expect(thread.inherited, thread.program).to.deep.equal(["", ""]);
      expect(thread.rings, thread.program).to.deep.equal([]);
    }
  };
  const expectSandbox = (threads: readonly Thread[]) => {
    const absent = ["sys", "home", "root", "boot", "run", "var"].filter((folder) => !project.startsWith(`/${folder}/`));
    for (const { root, program } of threads) {
      expect(root, program).to.include.members(["usr", "etc", "dev"]);
      for (const folder of absent) expect(root, program).to.not.include(folder);
    }
  };
  const expectRights = (threads: readonly Thread[], rights: string) => {
    for (const thread of threads) expect(thread.rights, thread.program).to.deep.equal(Array(3).fill(rights));
  };

  it("an image: each thread of the child is filtered, has four capabilities and a root of its own, before it has asked for anything", async () => {
    await using world = await ImageWorld.make();
    const seen: Thread[][] = [];
    world.registry.answers = () => {
      seen.push(fetching());
      return false;
    };
    const layer = world.registry.layer(tarOf({ name: "a", content: "kept" }));
    const path = await world.shown(world.registry.image(layer));
    expect(readFileSync(`${path}/a`, "utf8")).to.equal("kept");
    expect(seen.length).to.be.greaterThan(1);
    for (const threads of seen) {
      expectFiltered(threads, 1);
      expectSandbox(threads);
      expectRights(threads, "chown dac_override fowner fsetid");
    }
  });

  it("a commit: so are the child, git and what it starts, git without rights, and in namespaces of their own", async () => {
    await using world = await GitWorld.make();
    const seen: Thread[][] = [];
    world.server.answers = () => {
      seen.push(fetching());
      return false;
    };
    const path = await world.shown(world.commit(world.file("a", "kept")));
    expect(readFileSync(`${path}/a`, "utf8")).to.equal("kept");
    expect(seen.length).to.be.greaterThan(1);
    const ours = namespacesOf("/proc/self");
    for (const threads of seen) {
      expectFiltered(threads, 1);
      expectSandbox(threads);
      const git = threads.filter(({ program }) => program.startsWith("git"));
      expect(git.length).to.be.greaterThan(0);
      expectRights(git, "");
      const child = threads.filter((thread) => !git.includes(thread) && thread.rights[0] !== "");
      expectRights(child, "kill setgid setuid setpcap sys_admin");
      for (const { namespaces } of child)
        for (const kind of ["ipc", "uts", "mnt"]) expect(namespaces[kind], kind).to.not.equal(ours[kind]);
      for (const { namespaces } of git) {
        expect(namespaces["net"], "it speaks with the server").to.equal(ours["net"]);
        for (const kind of ["pid", "ipc", "uts", "mnt"]) expect(namespaces[kind], kind).to.not.equal(ours[kind]);
      }
    }
  });

  it("a commit: git has no network while it reads what it has fetched", async () => {
    await using world = await GitWorld.make();
    const one = world.file("a", "kept");
    const many = Array.from({ length: 5_000 }, (_, index) => ({ ...one, name: `${10_000 + index}` }));
    const seen: Thread[] = [];
    const looks = setInterval(() => seen.push(...fetching()), 5);
    await world.shown(world.commit(...many)).finally(() => clearInterval(looks));
    const reading = seen.filter(({ program, args }) => program === "git" && args.includes("cat-file"));
    expect(reading.length, "seen at work").to.be.greaterThan(0);
    expectFiltered(reading, 1);
    expectRights(reading, "");
    const ours = namespacesOf("/proc/self");
    for (const { namespaces } of reading)
      for (const kind of kinds) expect(namespaces[kind], kind).to.not.equal(ours[kind]);
  });
});
