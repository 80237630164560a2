import { expect } from "chai";
import { type ChildRequest, refusedCode } from "../../../../../src/host/linux/child/child-protocol.ts";
import type { ChildRunner } from "../../../../../src/host/linux/child/child-runner.ts";
import { LinuxDevices } from "../../../../../src/host/linux/device/linux-devices.ts";
import type { Mounter } from "../../../../../src/host/ports/host-ports.ts";

describe("a device that blkid could not be started for", () => {
  it("is not said to hold anything: the probe fails", async () => {
    const replies: { readonly [kind: string]: object } = {
      probe: { ok: true, value: { sizeBytes: 4096, journalLeft: false } },
      exec: { ok: false, error: { message: "EMFILE: too many open files", code: "EMFILE" } },
    };
    const run = async ({ kind }: ChildRequest) => {
      const reply = JSON.stringify(replies[kind]);
      return { code: kind === "exec" ? refusedCode : 0, stdout: `${reply}\n`, stderr: "" };
    };
    const mounter = {
      inspect: async () => ({ kind: "blockDevice", deviceNumber: "8:16", canonicalPath: "/dev/sdb" }),
    } as unknown as Mounter;
    const operation = { deadlineMs: 1, formatDeadlineMs: 1, onChild: async () => {} };
    const devices = new LinuxDevices(mounter, { run } as unknown as ChildRunner, operation);
    const probe = devices.probe({ root: "/", path: "/dev/sdb" }).catch((thrown: unknown) => thrown);
    expect(await probe).to.include({ reason: "SetUpFailed", message: "EMFILE: too many open files" });
  });
});
