import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { type ChildRequest, refusedCode } from "../../../../../src/host/linux/child/child-protocol.ts";
import { replyIn } from "../../../../../src/host/linux/child/child-reply.ts";

const main = fileURLToPath(new URL("../../../../../src/main.ts", import.meta.url));

describe("the role child of the program that is shipped", () => {
  function ran(request: ChildRequest): { code: number | null; reply: unknown } {
    const input = `${JSON.stringify(request)}\n`;
    const { status, stdout } = spawnSync(process.execPath, [main, "child"], { input, encoding: "utf8" });
    return { code: status, reply: replyIn(stdout) };
  }

  it("ends with the code of a refusal if a check fails", () => {
    const meant = { file: "/sys/not-there", text: "x" };
    const { code, reply } = ran({ kind: "exec", file: "/bin/true", args: [], meant });
    expect(code).to.equal(refusedCode);
    expect(reply).to.have.nested.property("error.reason", "DeviceBusy");
  });

  it("ends as the program that it became", () => {
    const exec = { kind: "exec", file: "/bin/sh", args: ["-c", "exit 3"] } as const;
    expect(ran(exec)).to.deep.equal({ code: 3, reply: undefined });
  });

  it("refuses what it cannot ask the kernel for, also once its input is another file", () => {
    const { code, reply } = ran({ kind: "exec", file: "/bin/true", args: ["a\0b"], input: "eA==" });
    expect(code).to.equal(refusedCode);
    expect(reply).to.have.nested.property("error.message").that.includes("null bytes");
  });

  it("ends by a signal, which is uncertain, if the kernel refuses the program", () => {
    expect(ran({ kind: "exec", file: "/proc/version", args: [] })).to.deep.equal({ code: null, reply: undefined });
  });
});
