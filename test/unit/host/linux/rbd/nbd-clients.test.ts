import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import type { ChildRequest } from "../../../../../src/host/linux/child/child-protocol.ts";
import { LinuxNBD } from "../../../../../src/host/linux/rbd/linux-nbd.ts";
import { nbdClient } from "../../../../../src/host/linux/rbd/nbd-clients.ts";
import { noPrograms } from "../../../../lib/fakes/no-programs.ts";

const cookie = "/state/data/k";
const agent = "/kubepods/burstable/pod1/agent";
const args = ["/usr/bin/rbd-nbd", "map", `--cookie=${cookie}`, "rbd/data"];

describe("the rbd-nbd of an image", () => {
  let top: string;
  beforeEach(() => {
    top = mkdtempSync(join(tmpdir(), "nbd-clients-"));
    write("proc/self/cgroup", `0::${agent}\n`);
  });
  afterEach(() => rmSync(top, { recursive: true }));

  function write(path: string, text: string): void {
    mkdirSync(join(top, path, ".."), { recursive: true });
    writeFileSync(join(top, path), text);
  }

  interface Shown {
    readonly comm?: string;
    readonly startTime?: number;
    readonly uid?: number;
    readonly leader?: number;
    readonly cgroup?: string;
    /** Undefined: whoever reads them waits. */
    readonly cmdline?: readonly string[] | undefined;
  }
  function runs(pid: number, shown: Shown = {}): void {
    const { comm = "rbd-nbd", startTime = 100, uid = 0, leader = pid, cgroup = "/nodevolume" } = shown;
    const { cmdline } = { cmdline: args, ...shown };
    write(`proc/${pid}/comm`, `${comm}\n`);
    write(`proc/${pid}/stat`, `${pid} (${comm}) S 1 ${"0 ".repeat(17)}${startTime} 0\n`);
    write(`proc/${pid}/status`, `Name:\t${comm}\nTgid:\t${leader}\nUid:\t${uid}\t${uid}\t${uid}\t${uid}\n`);
    write(`proc/${pid}/cgroup`, `0::${cgroup}\n`);
    rmSync(join(top, `proc/${pid}/cmdline`), { recursive: true, force: true });
    if (cmdline === undefined)
      mkdirSync(join(top, `proc/${pid}/cmdline`)); // EISDIR
    else write(`proc/${pid}/cmdline`, `${cmdline.join("\0")}\0`);
  }
  const found = (disk?: string) =>
    nbdClient({ cookie, ...(disk !== undefined && { disk }) }, { proc: `${top}/proc`, disks: `${top}/block` })?.pid;

  it("is told by its name and its cookie; of two, the one that has begun later", () => {
    expect(found()).to.equal(undefined);
    runs(7);
    runs(5, { startTime: 300 });
    runs(9, { startTime: 400, cmdline: ["rbd-nbd", "map", "--cookie=/state/data/other"] });
    expect(found()).to.equal(5);
  });

  it("is the one that the kernel names, whoever has begun since", () => {
    runs(7);
    runs(5, { startTime: 300 });
    write("block/nbd0/pid", "7\n");
    expect(found("nbd0")).to.equal(7);
    expect(found("nbd1"), "of another device").to.equal(5);
  });

  it("is looked for where the one that made the device has ended, and its pid is another's", () => {
    runs(5, { startTime: 300 });
    write("block/nbd0/pid", "7\n");
    expect(found("nbd0")).to.equal(5);
    runs(7, { comm: "sleep", cmdline: undefined });
    expect(found("nbd0")).to.equal(5);
  });

  for (const [who, shown] of [
    ["of another name", { comm: "postgres" }],
    ["of another user", { uid: 1000 }],
    ["of a pod", { cgroup: "/kubepods/besteffort/pod2/a" }],
    ["of another container of the agent's pod", { cgroup: "/kubepods/burstable/pod1/other" }],
    ["of whose cgroup nothing can be told from here", { cgroup: "/../pod2/a" }],
    ["that is a thread of another", { leader: 4 }],
  ] as const) {
    it(`is no process ${who}, and that is not asked for its arguments, for which it may have to be waited`, () => {
      runs(7);
      runs(5, { startTime: 300, ...shown, cmdline: undefined });
      expect(found()).to.equal(7);
      runs(5, { startTime: 300, ...shown });
      expect(found()).to.equal(7);
    });
  }

  it("stays in the agent's container where it could not leave that", () => {
    runs(7, { cgroup: agent });
    expect(found()).to.equal(7);
  });

  it("is looked for by a child, not by the agent", async () => {
    const asked: ChildRequest[] = [];
    const client = { pid: 7, startTime: 100 };
    const runner = {
      async run(request: ChildRequest) {
        asked.push(request);
        return { code: 0, stdout: JSON.stringify({ ok: true, value: client }), stderr: "" };
      },
    };
    const deps = { runner, hostRoot: "/host" } as unknown as ConstructorParameters<typeof LinuxNBD>[0];
    const nbd = new LinuxNBD(deps, noPrograms, { warnOf: () => {} });
    expect(await nbd.find(cookie)).to.deep.equal({ client });
    expect(asked).to.deep.equal([{ kind: "nbdClient", query: { cookie, hostRoot: "/host" } }]);
  });
});
