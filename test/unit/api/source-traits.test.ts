import { expect } from "chai";
import { hasTrait, isSized, nameOfSource, sourceTypes } from "../../../src/api/source-traits.ts";
import type { VolumeSource } from "../../../src/api/types.gen.ts";
import { plugins } from "../../../src/plugins/registry.ts";

describe("traits of sources", () => {
  it("are there for each that has a plugin, and for no other", () => {
    expect([...sourceTypes].sort()).to.deep.equal(Object.keys(plugins).sort());
  });

  const named: readonly (readonly [VolumeSource, string])[] = [
    [{ cifs: { server: "s", share: "team/a" } }, "a"],
    [{ csi: { driver: "d", volumeHandle: "pool/vol-1" } }, "pool-vol-1"],
    [{ flexVolume: { driver: "vendor/disk" } }, "disk"],
    [{ git: { repository: "https://h/app.git", revision: "0".repeat(40) } }, "app"],
    [{ iscsi: { targetPortal: "h", iqn: "iqn.2001-04.com.example:disk", lun: 3 } }, "disk 3"],
    [{ local: { disk: { model: "M" } } }, "M"],
    [{ emptyDir: {} }, ""],
    [{ downwardAPI: { items: [] } }, ""],
  ];
  for (const [source, name] of named) {
    it(`call ${Object.keys(source)[0]} "${name}"`, () => expect(nameOfSource(source)).to.equal(name));
  }

  it("say of a member what its fields say", () => {
    expect(isSized({ local: { path: "/dev/sdb" } })).to.equal(false);
    expect(isSized({ local: { lvm: { volumeGroup: "v", logicalVolume: "l" } } })).to.equal(true);
    expect(hasTrait({ nfs: { server: "s", path: "/a" } }, "adoptable")).to.equal(true);
    expect(hasTrait({ glusterfs: { servers: ["s"], path: "a" } }, "adoptable")).to.equal(false);
    expect(hasTrait({ hostPath: { path: "/a" } }, "block")).to.equal(false);
  });
});
