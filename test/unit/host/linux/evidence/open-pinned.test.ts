import { closeSync, mkdirSync, mkdtempSync, openSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { silent } from "../../../../../hack/lib/silent-log.ts";
import type { EnteringChild } from "../../../../../src/host/linux/evidence/entered-namespace.ts";
import { visitProcesses } from "../../../../../src/host/linux/evidence/mount-namespaces.ts";
import type { NamespaceReference } from "../../../../../src/host/linux/evidence/namespace-references.ts";
import {
  mostPinned,
  openNamespace,
  type PinnedVisit,
  type Unread,
  visitPlaces,
} from "../../../../../src/host/linux/evidence/pinned-namespaces.ts";
import { AT_STATX_DONT_SYNC, RESOLVE } from "../../../../../src/host/linux/syscall/constants.ts";
import { Errno, errnoOf } from "../../../../../src/host/linux/syscall/errno.ts";
import { loadLibc } from "../../../../../src/host/linux/syscall/libc.ts";
import { loadMountCalls } from "../../../../../src/host/linux/syscall/mount-calls.ts";
import { realSystem } from "../../../../../src/system.ts";

const libc = loadLibc();
const calls = loadMountCalls();
const own = "/proc/self/ns/mnt";
const { timers } = realSystem(silent);
const by = (...command: [string, ...string[]]): EnteringChild => ({ command, timers });
const whys = (unread: readonly Unread[]) => unread.map(({ why }) => why);

describe("what keeps a mount namespace, where others may let no call end", () => {
  let root: string;

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "open-pinned-"));
    mkdirSync(`${root}/a`);
    writeFileSync(`${root}/a/kept`, "");
  });
  afterEach(() => rmSync(root, { recursive: true }));

  function file(path: string, mayHang = false): NamespaceReference {
    return { path, way: { root, mayHang: () => mayHang }, what: "the file" };
  }

  /** Of a kernel that refuses some ways, and keeps how it was asked. */
  function fakeLibc(refuse: (resolve: number) => number | undefined) {
    const asked: number[] = [];
    const looked: number[] = [];
    return {
      asked,
      looked,
      openat2(dir: number, path: string, flags: number, mode: number, resolve: number): number {
        asked.push(resolve);
        const errno = refuse(resolve);
        if (errno !== undefined) throw new Errno("openat2", errno);
        return libc.openat2(dir, path, flags, mode, resolve & ~RESOLVE.CACHED);
      },
      statx(dir: number, path: string, flags: number) {
        looked.push(flags);
        return libc.statx(dir, path, flags);
      },
    };
  }
  const codeOf = (act: () => unknown) => {
    try {
      act();
      return "done";
    } catch (error) {
      return errnoOf(error) ?? String(error);
    }
  };

  it("is opened by what the kernel has in memory, and looked at without asking a server", () => {
    const fake = fakeLibc(() => undefined);
    expect(openNamespace(file("/a/kept"), { libc: fake, calls }), "an ordinary file").to.equal(undefined);
    expect(fake.asked.map((resolve) => (resolve & RESOLVE.CACHED) !== 0)).to.deep.equal([true]);
    const fd = openSync(`${root}/a/kept`, "r");
    expect(openNamespace({ path: `/proc/self/fd/${fd}`, what: "a descriptor" }, { libc: fake, calls })).to.equal(
      undefined,
    );
    closeSync(fd);
    expect(fake.looked.map((flags) => (flags & AT_STATX_DONT_SYNC) !== 0)).to.deep.equal([true, true]);
  });

  it("is known, by a link of /proc", () => {
    using opened = openNamespace({ path: own, what: "a descriptor" }, { libc, calls });
    expect(opened && readlinkSync(opened.path)).to.equal(readlinkSync(own));
    expect(openNamespace({ path: "/proc/self/ns/net", what: "of another kind" }, { libc, calls })).to.equal(undefined);
    expect(codeOf(() => openNamespace(file("/a/gone"), { libc, calls }))).to.equal("EAGAIN");
  });

  it("is not opened by a link that was put into the way, by no kernel", () => {
    symlinkSync("/proc/self/ns", `${root}/link`);
    expect(codeOf(() => openNamespace(file("/link/mnt"), { libc, calls }))).to.equal("ELOOP");
    const older = fakeLibc((resolve) => ((resolve & RESOLVE.CACHED) === 0 ? undefined : constants.errno.EINVAL));
    expect(codeOf(() => openNamespace(file("/link/mnt"), { libc: older, calls }))).to.equal("ELOOP");
  });

  it("is opened before Linux 5.12 only where the mount table shows the whole way, and nothing that may hang", () => {
    const older = fakeLibc((resolve) => ((resolve & RESOLVE.CACHED) === 0 ? undefined : constants.errno.EINVAL));
    expect(codeOf(() => openNamespace(file("/a/kept", true), { libc: older, calls }))).to.equal("EAGAIN");
    expect(older.asked).to.have.length(1);
    expect(codeOf(() => openNamespace(file("/a/kept"), { libc: older, calls }))).to.equal("done");
  });

  it("is in use beyond what one look enters, and no child is started for more", async () => {
    const name = readlinkSync(own);
    const visited = (left: number, place: NamespaceReference = { path: own, what: "a descriptor", name }) => {
      const kept: PinnedVisit = {
        calls,
        entering: by("/bin/sh", "-c", "read request; echo no >&2"),
        state: { left, again: new Set() },
        readers: new Map(),
        seen: new Set(),
        visit: async () => true,
      };
      return visitPlaces(kept, [place]).then(whys);
    };
    expect(await visited(1)).to.deep.equal([`a descriptor keeps ${name}: a child process could not enter it: no`]);
    const [why, ...others] = await visited(0);
    expect(why).to.equal(`a descriptor keeps ${name}: more than ${mostPinned} without a process are not checked`);
    expect(others).to.deep.equal([]);
    expect(await visited(0, { path: own, what: "a descriptor" }), "by its name").to.deep.equal([why]);
    expect(await visited(0, file("/a/kept")), "what is none").to.deep.equal([]);
  });

  it("is in use as long as it is not read, though what leads to it was", async () => {
    const visited: string[] = [];
    const kept: PinnedVisit = {
      calls,
      entering: by("/bin/sh", "-c", "read request; echo there; read end"), // it is in our own namespace already
      state: { left: mostPinned, again: new Set() },
      readers: new Map(),
      seen: new Set(),
      visit: async ({ name }) => visited.push(name) > 0,
    };
    const inside = { ...file("/a/kept"), name: "mnt:[1]", what: "a file in it" };
    const look = () => visitPlaces(kept, [{ path: own, what: "a descriptor" }], async () => [inside]);
    const why = [{ name: "mnt:[1]", why: "a file in it keeps mnt:[1]: something else is in its place" }];
    expect(await look()).to.deep.equal(why);
    expect(await look(), "in the next pass").to.deep.equal(why);
    expect(visited).to.deep.equal([readlinkSync(own)]);
    kept.seen.add("mnt:[1]");
    expect(await look(), "once it was read").to.deep.equal([]);
  });
});

describe("a process whose root directory hides what is mounted", () => {
  let proc: string;

  beforeEach(() => {
    proc = mkdtempSync(join(tmpdir(), "fake-proc-"));
  });
  afterEach(() => rmSync(proc, { recursive: true }));

  function fakeProcess(pid: number, name: string, root: string): void {
    const thread = `${proc}/${pid}/task/${pid}`;
    mkdirSync(`${thread}/ns`, { recursive: true });
    symlinkSync(name, `${thread}/ns/mnt`);
    symlinkSync(root, `${thread}/root`);
  }

  async function visited(entering?: EnteringChild) {
    const names: string[] = [];
    const visit = async ({ name, members }: { name: string; members(): { pid?: number } }) =>
      names.push(`${name} by ${members().pid}`) > 0;
    const { hidden } = await visitProcesses({ calls, entering, visit }, new Set(), proc);
    return { names, hidden: [...hidden.values()].map(({ name, pid }) => `${name} by ${pid}`) };
  }

  it("is not asked: another one in its namespace is, or a child enters that", async () => {
    fakeProcess(1, "mnt:[1]", "/");
    fakeProcess(2, "mnt:[2]", "/jail");
    fakeProcess(3, "mnt:[2]", "/");
    fakeProcess(4, "mnt:[3]", "/jail");
    fakeProcess(5, "mnt:[3]", "/jail/inside");
    expect(await visited(by("child"))).to.deep.equal({
      names: ["mnt:[1] by 1", "mnt:[2] by 3"],
      hidden: ["mnt:[3] by 4"],
    });
    const { names } = await visited();
    expect(names, "by who must not start a child").to.deep.equal(["mnt:[1] by 1", "mnt:[2] by 2", "mnt:[3] by 4"]);
  });
});
