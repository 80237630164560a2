import { expect } from "chai";
import { isOfServer, serverOf } from "../../../../src/host/ports/servers.ts";

describe("serverOf", () => {
  for (const [fsType, source, server] of [
    ["nfs4", "files:/export/a", "nfs files"],
    ["nfs", "[fd00::1]:/b", "nfs [fd00::1]"],
    ["nfs4", "files", "/mnt/x"],
    ["ceph", "10.0.0.1:6789,[fd00::1]:6789:/a", "ceph 10.0.0.1:6789,[fd00::1]:6789"],
    ["rbd", "10.0.0.1,[fd00::1]:3300:/rbd/data", "rbd 10.0.0.1,[fd00::1]:3300"],
    ["fuse.ceph-fuse", "mon:/a", "/mnt/x"],
    ["fuse.sshfs", "files:/a", "/mnt/x"],
    ["9p", "tag", "/mnt/x"],
  ] as const) {
    it(`of ${fsType} ${source} is ${server}`, () => {
      expect(serverOf({ fsType, source, point: "/mnt/x" })).to.equal(server);
    });
  }
});

describe("isOfServer", () => {
  const sources: { readonly [source: string]: boolean } = {
    "//srv/share": true,
    "srv:/export": true,
    "10.0.0.1:/": true,
    "[fd00::1]:/export": true,
    "10.0.0.1:6789,[fd00::1]:3300:/a": true,
    "/dev/sdx1": false,
    "/dev/disk/by-path/pci-0000:00:1f.2-ata-1": false,
    "/dev/disk/by-path/ip-10.0.0.1:3260-iscsi-iqn.2003-01.org:x-lun-0": false,
    "/srv/a:/b": false,
    tmpfs: false,
    "": false,
  };
  for (const [source, expected] of Object.entries(sources)) {
    it(`${source || "nothing"}: ${expected ? "of a server" : "local"}`, () =>
      expect(isOfServer(source)).to.equal(expected));
  }
});
