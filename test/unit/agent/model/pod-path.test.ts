import { expect } from "chai";
import { isOfKubelet, podOfPath, podTargetPath } from "../../../../src/agent/model/pod-path.ts";

const kubelet = "/var/lib/kubelet";
const uid = "0b3c1a44-5f4e-4a2b-9d3a-3f0f6f1f2a10";
const path = `${kubelet}/pods/${uid}/volumes/kubernetes.io~csi/data/mount`;

describe("the path of a pod's target", () => {
  it("is kubelet's, and says whose it is", () => {
    expect(podTargetPath(kubelet, { uid, volume: "data" })).to.equal(path);
    expect(podOfPath(kubelet, path)).to.deep.include({ podUID: uid, volume: "data" });
  });

  for (const other of [
    `${path}/`,
    `${path}/x`,
    path.replace("/mount", ""),
    path.replace("csi", "nfs"),
    path.replace("data", ".."),
    path.replace("data", "a/b"),
    path.replace(uid, ".."),
    path.replace(uid, "a b"),
    path.replace(uid, "a".repeat(65)),
    path.replace(kubelet, "/var/lib/kubelet2"),
    path.replace("/pods/", "/plugins/"),
    `${kubelet}/pods`,
  ]) {
    it(`is no other: ${other.replace(uid, "UID").slice(0, 90)}`, () => {
      expect(podOfPath(kubelet, other)).to.equal(undefined);
    });
  }

  it("is of nobody where there is no kubelet", () => {
    expect(podOfPath(undefined, path)).to.equal(undefined);
    expect(isOfKubelet(undefined, path)).to.equal(false);
  });

  it("lies where no mount of the host may be", () => {
    expect(isOfKubelet(kubelet, `${kubelet}/pods/any`)).to.equal(true);
    expect(isOfKubelet(kubelet, `${kubelet}/plugins/any`)).to.equal(false);
  });
});
