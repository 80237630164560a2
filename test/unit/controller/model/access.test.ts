import { expect } from "chai";
import { accessModeOf } from "../../../../src/controller/model/access.ts";

describe("the access mode that a volume is used with (kubelet behaviour 110)", () => {
  it("is the widest of its PersistentVolume, in whatever order they are, and ReadOnlyMany only for who reads", () => {
    expect(accessModeOf(["ReadWriteOnce", "ReadWriteMany"], false)).to.equal("ReadWriteMany");
    expect(accessModeOf(["ReadOnlyMany", "ReadWriteOnce"], false)).to.equal("ReadWriteOnce");
    expect(accessModeOf(["ReadWriteOnce", "ReadOnlyMany"], true)).to.equal("ReadOnlyMany");
  });
});
