import { execFileSync } from "node:child_process";
import { expect } from "chai";

const libc = new URL("../../src/host/linux/syscall/libc.ts", import.meta.url).href;

describe("core files", () => {
  it("are left neither by what says so, nor by what it starts, whatever the node does with them", () => {
    const limits = (before: string) => {
      const script = `import { execFileSync } from "node:child_process";
        import { loadLibc } from "${libc}";
        ${before}
        process.stdout.write(execFileSync("grep", ["core", "/proc/self/limits"]));`;
      const args = ["--core=unlimited", process.execPath, "--input-type=module", "--eval", script];
      return execFileSync("prlimit", args, { encoding: "utf8" }).trim().split(/ {2,}/);
    };
    expect(limits("")).to.deep.equal(["Max core file size", "unlimited", "unlimited", "bytes"]);
    expect(limits("loadLibc().leaveNoCores();")).to.deep.equal(["Max core file size", "1", "1", "bytes"]);
  });
});
