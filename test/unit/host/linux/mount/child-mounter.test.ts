import { expect } from "chai";
import { VolumeError } from "../../../../../src/errors.ts";
import type { ChildRunner } from "../../../../../src/host/linux/child/child-runner.ts";
import { ChildMounter } from "../../../../../src/host/linux/mount/child-mounter.ts";
import type { FilesystemMount, OperationContext } from "../../../../../src/host/ports/host-ports.ts";

describe("a mount that a made child refuses", () => {
  it("names the processes that have the device", async () => {
    const error = { reason: "DeviceBusy", errorClass: "transient", message: "/dev/sdb is open", heldBy: [7, 8] };
    const run = async () => ({ code: 0, stdout: JSON.stringify({ ok: false, error }), stderr: "" });
    const mounter = new ChildMounter({ run } as unknown as ChildRunner, {} as OperationContext);
    const request = { fsType: "ext4", source: "/dev/sdb" } as FilesystemMount;
    const refused = await mounter.mountFilesystem(request).catch((thrown: unknown) => thrown);
    if (!(refused instanceof VolumeError)) throw new Error("not refused");
    expect([refused.reason, refused.heldBy]).to.deep.equal(["DeviceBusy", [7, 8]]);
  });
});
