import { expect } from "chai";
import { withNodeDevices } from "../../../../src/agent/executor/operation-executor.ts";
import { VolumeError } from "../../../../src/errors.ts";

describe("withNodeDevices", () => {
  const of = (message: string, name: string, hostRoot = "/host") => {
    const error = new VolumeError("DeviceBusy", "transient", message, { on: { kind: "Device", name }, heldBy: [7] });
    const told = withNodeDevices(error, hostRoot);
    expect(told).to.include({ reason: "DeviceBusy", errorClass: "transient" });
    expect(told.heldBy).to.deep.equal([7]);
    return [told.message, told.on?.name];
  };

  it("names a device as the node does, not as the agent's container", () => {
    expect(of("/host/dev/sdb has data (/host/dev/sdb1)", "/host/dev/sdb")).to.deep.equal([
      "/dev/sdb has data (/dev/sdb1)",
      "/dev/sdb",
    ]);
  });

  it("leaves other paths, also those of the node that have the same end", () => {
    const text = "/mnt/host/dev/x, /hosts/dev/y and /host/srv/z";
    expect(of(text, "/mnt/host/dev/x")).to.deep.equal([text, "/mnt/host/dev/x"]);
    expect(of("/dev/sdb is busy", "/dev/sdb", "/")).to.deep.equal(["/dev/sdb is busy", "/dev/sdb"]);
  });

  it("takes the root literally", () => {
    expect(of("/a.b-c/dev/sdb, /aXb-c/dev/sdb", "8:0", "/a.b-c")).to.deep.equal(["/dev/sdb, /aXb-c/dev/sdb", "8:0"]);
  });
});
