import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import type { ChildRequest } from "../../../../../src/host/linux/child/child-protocol.ts";
import { processOfRoot } from "../../../../../src/host/linux/child/processes.ts";
import { LinuxClients } from "../../../../../src/host/linux/mount/linux-fuse-clients.ts";

describe("the client of a pid file", () => {
  let top: string;

  beforeEach(() => {
    top = mkdtempSync(join(tmpdir(), "nvo-client-"));
  });
  afterEach(() => rmSync(top, { recursive: true }));

  const pidFile = "/state/data/client.pid";
  /** @param args undefined: whoever reads them waits */
  function runs(pid: number, args: readonly string[] | undefined, uid = 0): void {
    mkdirSync(`${top}/${pid}`);
    writeFileSync(`${top}/${pid}/stat`, `${pid} (ceph) fuse) S 1 ${"0 ".repeat(17)}300 0\n`);
    writeFileSync(`${top}/${pid}/status`, `Name:\tx\nTgid:\t${pid}\nUid:\t${uid}\t${uid}\t${uid}\t${uid}\n`);
    if (args === undefined)
      mkdirSync(`${top}/${pid}/cmdline`); // EISDIR
    else writeFileSync(`${top}/${pid}/cmdline`, `${args.join("\0")}\0`);
  }
  const found = (pid: number) => processOfRoot(pid, { has: (args) => args.some((arg) => arg.endsWith(pidFile)) }, top);

  it("is the process of root that names it among its arguments", () => {
    runs(7, ["ceph-fuse", `--pid-file=${pidFile}`]);
    expect(found(7)).to.deep.equal({ pid: 7, startTime: 300 });
  });

  it("is not who has got its pid since, nor one that has ended", () => {
    runs(7, ["sleep", "1"]);
    runs(8, []);
    expect([found(7), found(8), found(9)]).to.deep.equal([undefined, undefined, undefined]);
  });

  it("is no process of another user, and that is not asked for its arguments, for which it may have to be waited", () => {
    runs(7, undefined, 1000);
    expect(found(7)).to.equal(undefined);
  });

  it("is looked at by a child, not by the agent; without a pid by nobody", async () => {
    const asked: ChildRequest[] = [];
    const client = { pid: process.pid, startTime: 300 };
    const runner = {
      async run(request: ChildRequest) {
        asked.push(request);
        return { code: 0, stdout: JSON.stringify({ ok: true, value: client }), stderr: "" };
      },
    };
    const clients = new LinuxClients({ runner } as unknown as ConstructorParameters<typeof LinuxClients>[0]);
    const file = `${top}/client.pid`;
    expect(await clients.running(file)).to.equal(undefined);
    writeFileSync(file, "");
    expect(await clients.running(file)).to.equal(undefined);
    expect(asked).to.deep.equal([]);
    writeFileSync(file, `${process.pid}\n`);
    expect(await clients.running(file)).to.deep.equal(client);
    expect(asked).to.deep.equal([{ kind: "client", pid: process.pid, pidFile: file }]);
  });

  it("is not known if the child cannot tell: that is said", async () => {
    const runner = {
      run: async () => ({ code: 75, stdout: '{"ok":false,"error":{"message":"no /proc"}}\n', stderr: "" }),
    };
    const clients = new LinuxClients({ runner } as unknown as ConstructorParameters<typeof LinuxClients>[0]);
    const file = `${top}/client.pid`;
    writeFileSync(file, "7\n");
    const error = await clients.running(file).catch((cause: Error) => cause);
    expect(error).to.include({
      reason: "SetUpFailed",
      message: `it is unknown whether process 7 is the client of ${file}: no /proc`,
    });
  });
});
