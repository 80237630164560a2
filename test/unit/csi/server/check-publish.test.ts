import { expect } from "chai";
import { NodeUnpublishVolumeRequest, VolumeCapability } from "../../../../src/csi/gen/csi.gen.ts";
import { checkPublish, checkUnpublish } from "../../../../src/csi/server/check-publish.ts";
import { RefusedCall } from "../../../../src/csi/server/refused-call.ts";
import { kubeletDir, podInfo, podUID, publishRequest, type RequestChange, targetPath } from "./requests.ts";

const check = (change: RequestChange = {}) => checkPublish(publishRequest(change), kubeletDir);
const at = (rest: string) => ({ targetPath: `${kubeletDir}/${rest}` });
const capability = (mount: object) => ({ volumeCapability: VolumeCapability.fromPartial({ mount }) });
const without = (key: string) => {
  const { [key]: _, ...rest } = { ...podInfo, set: "datasets" } as { [key: string]: string };
  return { volumeContext: new Map(Object.entries(rest)) };
};

describe("what kubelet asks of the driver for pods", () => {
  const pod = { podUID, volume: "data", path: targetPath, namespace: "team-a", podName: "web-0" };

  it("is a set's volume for a pod", () => {
    expect(check()).to.deep.equal({ ...pod, wants: { set: "datasets" }, readOnly: false, containersRead: false });
  });

  it("is a claim's, read-only, from a directory of it", () => {
    const attributes = { persistentVolumeClaim: "data", subPath: "a/b" };
    const wants = { persistentVolumeClaim: "data" };
    const read = { readOnly: true, containersRead: true };
    expect(check({ attributes, readonly: true })).to.deep.equal({ ...pod, wants, ...read, subPath: "a/b" });
  });

  it("is read-only by its attributes alone: kubelet lets containers write then", () => {
    const attributes = { set: "datasets", readOnly: "true" };
    const read = { readOnly: true, containersRead: false };
    expect(check({ attributes })).to.deep.equal({ ...pod, wants: { set: "datasets" }, ...read });
  });

  it("passes over the Secret that a pod names so that its node may read it", () => {
    const wanted = check({ secrets: new Map([["key", "hunter2"]]) });
    expect(wanted).to.deep.equal({ ...pod, wants: { set: "datasets" }, readOnly: false, containersRead: false });
  });

  it("may be for a pod whose UID is no UUID, as static pods have", () => {
    const uid = "0f52bd3bb1eb4d8d9d1d7a5a1a0a6a4e";
    const attributes = { set: "datasets", "csi.storage.k8s.io/pod.uid": uid };
    const path = at(`pods/${uid}/volumes/kubernetes.io~csi/data/mount`);
    expect(check({ ...path, attributes })).to.include({ podUID: uid });
  });

  const refused: readonly [string, RequestChange, string][] = [
    ["no volume id", { volumeId: "" }, "volume_id is needed"],
    ["no target", { targetPath: "" }, "target_path is needed"],
    ["no capability", { volumeCapability: undefined }, "volume_capability is needed"],
    ["neither mount nor block", { volumeCapability: VolumeCapability.fromPartial({}) }, "volume_capability.mount"],
    ["block", { volumeCapability: VolumeCapability.fromPartial({ block: {} }) }, "use volumeMounts, not volumeDevices"],
    ["a file system", capability({ fsType: "xfs" }), "csi.fsType"],
    ["mount flags", capability({ mountFlags: ["context=s0"] }), "mount_flags"],
    ["a group", capability({ volumeMountGroup: "2000" }), "volume_mount_group"],
    ["another directory", { targetPath: "/etc/mount" }, "must be kubelet's --root-dir"],
    ["a path beneath a longer one", { targetPath: `/x${targetPath}` }, "target_path"],
    ["what is beneath it", { targetPath: `${targetPath}/x` }, "target_path"],
    ["a slash at its end", { targetPath: `${targetPath}/` }, "target_path"],
    ["another plugin", at(`pods/${podUID}/volumes/kubernetes.io~nfs/data/mount`), "target_path"],
    ["dots for a uid", at("pods/../volumes/kubernetes.io~csi/data/mount"), "target_path"],
    ["dots for a volume", at(`pods/${podUID}/volumes/kubernetes.io~csi/../mount`), "target_path"],
    ["a volume's name that is none", at(`pods/${podUID}/volumes/kubernetes.io~csi/Data/mount`), "target_path"],
    ["a PersistentVolume", without("csi.storage.k8s.io/ephemeral"), "never by a PersistentVolume"],
    [
      "another pod's path",
      { attributes: { set: "a", "csi.storage.k8s.io/pod.uid": "b" } },
      "target_path is of the pod",
    ],
    ["no uid", without("csi.storage.k8s.io/pod.uid"), "podInfoOnMount: true"],
    ["no namespace", without("csi.storage.k8s.io/pod.namespace"), "podInfoOnMount: true"],
    ["no name", without("csi.storage.k8s.io/pod.name"), "podInfoOnMount: true"],
    ["nothing named", { attributes: {} }, "csi.volumeAttributes[set]"],
    [
      "an attribute that is not known",
      { attributes: { set: "a", Set: "b" } },
      "csi.volumeAttributes[Set] is not known",
    ],
  ];
  for (const [what, change, words] of refused) {
    it(`is refused with ${what}`, () => {
      const call = () => check(change);
      expect(call).to.throw(RefusedCall, words).with.property("code", "INVALID_ARGUMENT");
      expect(call).not.to.throw("hunter2");
    });
  }

  it("is given back by id and path", () => {
    const back = (volumeId: string, path: string) =>
      checkUnpublish(NodeUnpublishVolumeRequest.fromPartial({ volumeId, targetPath: path }), kubeletDir);
    expect(back("csi-1", targetPath)).to.deep.equal({ podUID, volume: "data", path: targetPath });
    expect(() => back("", targetPath)).to.throw(RefusedCall, "volume_id is needed");
    expect(() => back("csi-1", "")).to.throw(RefusedCall, "target_path is needed");
    expect(() => back("csi-1", "/mnt")).to.throw(RefusedCall, "target_path /mnt is not");
  });
});
