import { expect } from "chai";
import { serverOf } from "../../../src/host/remote-mount.ts";

describe("serverOf", () => {
  for (const [fsType, source, server] of [
    ["nfs4", "files:/export/a", "nfs files"],
    ["nfs", "[fd00::1]:/b", "nfs [fd00::1]"],
    ["nfs4", "files", "/mnt/x"],
    ["fuse.sshfs", "files:/a", "/mnt/x"],
    ["9p", "tag", "/mnt/x"],
  ] as const) {
    it(`of ${fsType} ${source} is ${server}`, () => {
      expect(serverOf({ fsType, source, point: "/mnt/x" })).to.equal(server);
    });
  }
});
