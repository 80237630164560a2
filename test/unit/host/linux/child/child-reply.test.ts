import { expect } from "chai";
import { VolumeError } from "../../../../../src/errors.ts";
import { refusedCode } from "../../../../../src/host/linux/child/child-protocol.ts";
import { askChild, errorOf, refusalOf, replyIn, runProgram } from "../../../../../src/host/linux/child/child-reply.ts";

const disk = { kind: "Device", name: "/dev/sdb" };
const busy = { message: "/dev/sdb is open", reason: "DeviceBusy", errorClass: "transient", heldBy: [7] } as const;
const refused = `${JSON.stringify({ ok: false, error: busy })}\n`;

const operation = { deadlineMs: 1, formatDeadlineMs: 1, onChild: async () => {} };

describe("the reply of a child", () => {
  it("is the last line of what it has written, after its progress", () => {
    expect(replyIn('17\n> 5 of 9 layers\n{"ok":true,"value":3}\n')).to.deep.equal({ ok: true, value: 3 });
    expect(replyIn('{"ok":true}'), "of what gives nothing back").to.deep.equal({ ok: true });
  });

  it("is none if the child broke off, or another program wrote", () => {
    for (const written of ["", "17\n", '{"ok":tr', "mke2fs 1.47\n", '{"ok":true}\nand more'])
      expect(replyIn(written), written).to.equal(undefined);
  });

  it("of a child that broke is an uncertain error with what it said", async () => {
    const run = async () => ({ code: 1, stdout: "17\n", stderr: "out of memory" });
    expect(await askChild({ run }, { kind: "users", mountPoint: "/a" }, operation)).to.deep.equal({
      ok: false,
      error: { message: "a child process ended with 1: out of memory", errorClass: "uncertain" },
    });
  });

  it("is why it did not become a program only if it ended so", () => {
    const refusal = refusalOf({ code: refusedCode, stdout: refused, stderr: "" }, disk);
    expect(refusal).to.include({
      reason: "DeviceBusy",
      errorClass: "transient",
      message: "/dev/sdb is open",
      on: disk,
    });
    expect(refusal?.heldBy).to.deep.equal([7]);
    expect(refusalOf({ code: 1, stdout: refused, stderr: "" }, disk), "mkfs failed").to.equal(undefined);
    expect(refusalOf({ code: refusedCode, stdout: "words", stderr: "" }, disk), "a program").to.equal(undefined);
  });
});

describe("a program that a child is to become", () => {
  const work = { kind: "exec", file: "/bin/true", args: [] } as const;
  const ranWith = (code: number, stdout: string) =>
    runProgram({ run: async () => ({ code, stdout, stderr: "" }) }, work, operation).catch((thrown: unknown) => thrown);

  it("fails with what the child says if it did not become it, device or not", async () => {
    const error = { message: "EMFILE: too many open files", code: "EMFILE" };
    const broken = await ranWith(refusedCode, `${JSON.stringify({ ok: false, error })}\n`);
    expect(broken).to.be.instanceOf(VolumeError);
    expect(broken).to.include({ reason: "SetUpFailed", errorClass: "transient", message: error.message });
    expect(await ranWith(refusedCode, refused)).to.include({ reason: "DeviceBusy", message: busy.message });
  });

  it("ends as it ended otherwise, also with the code of a refusal", async () => {
    for (const result of [
      { code: 1, stdout: refused },
      { code: refusedCode, stdout: "words" },
      { code: 0, stdout: "" },
    ])
      expect(await ranWith(result.code, result.stdout)).to.deep.equal({ ...result, stderr: "" });
  });
});

describe("errorOf", () => {
  it("keeps what the child knows, and is transient where it knows nothing", () => {
    expect(errorOf({ ...busy, on: disk })).to.include({ reason: "DeviceBusy", on: disk });
    expect(errorOf({ message: "EIO" })).to.include({ reason: "SetUpFailed", errorClass: "transient", on: undefined });
  });
});
