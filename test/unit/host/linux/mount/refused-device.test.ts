import { expect } from "chai";
import { refusedDevice } from "../../../../../src/host/linux/mount/refused-device.ts";

const request = {
  fsType: "xfs",
  source: "/nowhere/disk",
  options: [] as string[],
  attributes: {} as never,
  target: { prefix: "/", path: "/" },
};

describe("refusedDevice", () => {
  it("is about what is on the device where no option can be at fault", () => {
    for (const options of [[], ["ro", "norecovery"]]) {
      const error = refusedDevice({ ...request, options }, "EINVAL", "");
      expect(error).to.include({ reason: "FilesystemUnsupported", errorClass: "final" });
      expect(error?.message).to.match(/^the kernel does not mount the xfs on \/nowhere\/disk: dmesg on the node/);
    }
    expect(refusedDevice(request, "EINVAL", "unknown features")?.message).to.include(
      "/nowhere/disk: unknown features.",
    );
  });

  it("knows nothing of what has options, or is on no device, or failed in another way", () => {
    expect(refusedDevice({ ...request, options: ["logbufs=9"] }, "EINVAL", "")).to.equal(undefined);
    expect(refusedDevice({ ...request, fsType: "tmpfs" }, "EINVAL", "")).to.equal(undefined);
    for (const code of ["EEXIST", "EIO", undefined]) expect(refusedDevice(request, code, "")).to.equal(undefined);
  });
});
