import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect } from "chai";

const src = new URL("../../../../../src/host/linux/", import.meta.url);

/**
 * In a process of its own, as a filter stays, and one that was refused a ring before Node started. No right is needed
 * for any of it.
 */
const filtered = `
  import { spawnSync } from "node:child_process";
  import { readdirSync, readFileSync } from "node:fs";
  import { lookup } from "node:dns/promises";
  import { stat } from "node:fs/promises";
  import { gunzipSync, gzipSync } from "node:zlib";
  import koffi from "koffi";
  import { Errno } from "${src}syscall/errno.ts";
  import { ringCalls } from "${src}child/call-filter.ts";
  import { refuseCalls } from "${src}child/refuse-calls.ts";
  import { loadSandboxCalls } from "${src}syscall/sandbox-calls.ts";

  if (process.env.AGAIN === undefined) {
    refuseCalls(loadSandboxCalls(), { refused: ringCalls });
    process.execve(process.execPath, [process.execPath, ...process.execArgv], { AGAIN: "1" });
  }
  const chroot = koffi.load(null).func("chroot", "int", ["str"]);
  const tried = () => (chroot("/nonexistent") < 0 ? new Errno("", koffi.errno()).code : "done");
  await Promise.all(Array.from({ length: 8 }, () => stat("/"))); // the threads of the pool are there
  const before = tried();
  refuseCalls(loadSandboxCalls());
  const threads = readdirSync("/proc/self/task").map((thread) => {
    const text = readFileSync("/proc/self/task/" + thread + "/status", "latin1");
    return [/^Seccomp:\\s*(.*)$/m.exec(text)?.[1], /^NoNewPrivs:\\s*(.*)$/m.exec(text)?.[1]].join();
  });
  const unpacked = gunzipSync(gzipSync("a")).toString();
  const { address } = await lookup("localhost");
  const { status } = spawnSync(process.execPath, ["-e", "fetch"]);
  console.log(JSON.stringify({ before, after: tried(), threads, unpacked, found: address !== "", status }));
`;

describe("refuseCalls, in a process of its own", function () {
  this.timeout(30_000); // two starts of Node

  it("filters each thread, and leaves what fetching needs: threads, names, programs", async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", filtered]);
    const { threads, ...rest } = JSON.parse(stdout) as { threads: string[] };
    expect(rest).to.deep.equal({ before: "ENOENT", after: "EPERM", unpacked: "a", found: true, status: 0 });
    expect(threads.length).to.be.greaterThan(4);
    expect([...new Set(threads)]).to.deep.equal(["2,1"]); // 2: by a filter
  });
});
