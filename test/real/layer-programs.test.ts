import { execFileSync } from "node:child_process";
import { expect } from "chai";
import { VolumeError } from "../../src/errors.ts";
import type { Effects } from "../../src/host/ports/host-ports.ts";
import type { RealNode } from "../lib/kernel/real-node.ts";
import { withDisk } from "../lib/kernel/with-node.ts";

const passphrase = Buffer.from("correct horse");
const uuid = "01234567-89ab-cdef-0123-456789abcdef";

describe("programs of the node that make layers, on the real kernel", () => {
  let node: RealNode;
  let effects: Effects;
  let disk: string;

  withDisk(32, ["cryptsetup"], (path, made) => {
    node = made;
    disk = path;
    effects = node.host.effects({ deadlineMs: 60_000, formatDeadlineMs: 60_000, onChild: async () => {} });
  });

  const write = (offset: number, text: string) =>
    execFileSync("dd", [`of=${disk}`, "bs=1", `seek=${offset}`, "conv=notrunc", "status=none"], { input: text });
  const probe = () => effects.devices.probe({ root: "/", path: disk });
  const reasonOf = (call: Promise<unknown>) =>
    call.then(
      () => "done",
      (error) => (error instanceof VolumeError ? error.reason : `${error}`),
    );

  it("read what is meant for them from their input, all of it and nothing else", async () => {
    const { stdout, code } = await effects.programs.run("/usr/bin/od", ["-An", "-c"], { input: Buffer.from("a\0b\n") });
    expect([code, stdout.trim().split(/\s+/)]).to.deep.equal([0, ["a", "\\0", "b", "\\n"]]);
  });

  it("have the device open that was looked at; nothing runs for another, or one that somebody has", async () => {
    const device = { ...(await probe()), stands: "anything" } as const;
    const held = await effects.programs.run("/usr/bin/readlink", ["/proc/self/fd/199"], { device });
    expect(held.stdout.trim()).to.equal(disk);
    const other = { ...device, identity: `${device.identity}, another` };
    // Another device is not a busy one: the child says which, and nothing is guessed from its text.
    expect(await reasonOf(effects.programs.run("/usr/bin/true", [], { device: other }))).to.equal("SetUpFailed");
    execFileSync("mkswap", [disk]);
    execFileSync("swapon", [disk]);
    const used = reasonOf(effects.programs.run("/usr/bin/true", [], { device }));
    expect(await used.finally(() => execFileSync("swapoff", [disk]))).to.equal("DeviceBusy");
  });

  it("make a header of LUKS on an empty device, which the passphrase opens and no other", async () => {
    const device = await probe();
    await effects.layers.formatLUKS(device, passphrase, { uuid });
    expect(await probe()).to.include({ signature: "crypto_LUKS", uuid });
    const dump = execFileSync("cryptsetup", ["luksDump", disk], { encoding: "utf8" });
    expect(dump)
      .to.match(/PBKDF: +argon2id/)
      .and.match(/Memory: +65536/);
    const opens = (input: Buffer) =>
      execFileSync("cryptsetup", ["open", "--test-passphrase", "--key-file", "-", disk], { input, stdio: "pipe" });
    opens(passphrase);
    expect(() => opens(Buffer.from("correct horse\n"))).to.throw();
  });

  it("make none where a byte is (law L11), unless it is the rest of one that was begun", async () => {
    const device = await probe();
    write(700, "x");
    const format = (rest?: string) => effects.layers.formatLUKS(device, passphrase, { uuid, rest });
    expect(await reasonOf(format())).to.equal("DeviceNotEmpty");
    const { signature, contents } = await probe();
    expect(signature).to.equal(undefined);
    write(701, "y");
    expect(await reasonOf(format(contents)), "somebody has written since").to.equal("DeviceNotEmpty");
    expect(await reasonOf(format((await probe()).contents))).to.equal("done");
  });
});
