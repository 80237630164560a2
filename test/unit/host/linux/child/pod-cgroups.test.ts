import { expect } from "chai";
import { cgroupNextToPods, cgroupsIn, isInOtherPod } from "../../../../../src/host/linux/child/pod-cgroups.ts";

describe("cgroupNextToPods", () => {
  for (const [path, beside] of [
    ["/kubepods/besteffort/pod1-2/abc", "/nodevolume"],
    [
      "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1_2.slice/cri-containerd-abc.scope",
      "/nodevolume",
    ],
    [
      "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod1_2.slice/cri-containerd-abc.scope",
      "/kubelet.slice/nodevolume",
    ],
    [
      "/system.slice/containerd.service/kubepods-burstable-pod1_2.slice:cri-containerd:abc",
      "/system.slice/containerd.service/nodevolume",
    ],
    ["/kubepods-pod1_2.slice:cri-containerd:abc", "/nodevolume"],
    ["/run-7/kubepods/pod1-2/abc", "/run-7/nodevolume"],
    ["/system.slice/nodevolume-agent.service", undefined],
    ["/nodevolume", undefined],
    ["/", undefined],
  ] as const) {
    it(`of ${path} is ${beside}`, () => {
      expect(cgroupNextToPods(path)).to.equal(beside);
    });
  }
});

describe("cgroupsIn", () => {
  it("reads version 2, version 1 and both at once", () => {
    expect(cgroupsIn("0::/kubepods.slice/a:b.scope\n")).to.deep.equal([
      { controllers: "", path: "/kubepods.slice/a:b.scope" },
    ]);
    expect(cgroupsIn("9:name=systemd:/a\n4:cpu,cpuacct:/b\n0::/\n")).to.deep.equal([
      { controllers: "systemd", path: "/a" },
      { controllers: "cpu,cpuacct", path: "/b" },
      { controllers: "", path: "/" },
    ]);
  });
});

describe("isInOtherPod", () => {
  const own = "9:name=systemd:/kubepods/pod1/agent\n0::/kubepods/pod1/agent\n";
  for (const [its, other] of [
    [own, false],
    ["9:name=systemd:/nodevolume\n0::/nodevolume\n", false],
    ["9:name=systemd:/nodevolume\n0::/kubepods/pod1/agent\n", false],
    ["9:name=systemd:/nodevolume\n0::/kubepods/pod2/it\n", true],
    ["0::/kubepods/pod1/agent/beneath\n", true],
    ["0::/system.slice/containerd.service/kubepods-besteffort-pod2.slice:cri-containerd:it\n", true],
    ["0::/../../pod2/it\n", true],
    ["0::/..\n", true],
    ["0::/..it\n", false],
    ["0::/system.slice/it.service\n", false],
  ] as const) {
    it(`of ${its.replaceAll("\n", " ")}is ${other}`, () => {
      expect(isInOtherPod(its, own)).to.equal(other);
    });
  }
});
