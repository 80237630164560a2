import { expect } from "chai";
import { containerOf } from "../../../../../src/host/linux/evidence/container-of.ts";

const container = "0123456789abcdef".repeat(4);
const pod = "11111111-2222-3333-4444-555555555555";
const underscored = pod.replaceAll("-", "_");

describe("containerOf", () => {
  const cases: readonly [string, string, object][] = [
    [
      "containerd by systemd",
      `0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod${underscored}.slice/cri-containerd-${container}.scope`,
      { container, pod },
    ],
    [
      "CRI-O, guaranteed",
      `0::/kubepods.slice/kubepods-pod${underscored}.slice/crio-${container}.scope/container`,
      { container, pod },
    ],
    ["cgroupfs", `0::/kubepods/besteffort/pod${pod}/${container}`, { container, pod }],
    [
      "a static pod",
      `0::/kubepods/burstable/pod${container.slice(0, 32)}/${container}`,
      { container, pod: container.slice(0, 32) },
    ],
    [
      "the first version, with many lines",
      `12:cpu,cpuacct:/\n3:memory:/kubepods/pod${pod}/${container}\n`,
      { container, pod },
    ],
    ["seen from a cgroup namespace beside it", `0::/../../pod${pod}/${container}`, { container, pod }],
    [
      "a node that is a container (kind)",
      `0::/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod${underscored}.slice/cri-containerd-${container}.scope`,
      { container, pod },
    ],
    [
      "names for systemd that a runtime takes for directories (kubelet by systemd, containerd by cgroupfs)",
      `0::/system.slice/containerd.service/kubepods-burstable-pod${underscored}.slice:cri-containerd:${container}`,
      { container, pod },
    ],
    [
      "the same in the first version, beside others",
      `13:pids:/\n7:memory:/kubepods-pod${underscored}.slice:crio:${container}`,
      { container, pod },
    ],
    [
      "a container in a container, by the outer one",
      `0::/kubepods/burstable/pod${pod}/${container}/docker/${"f".repeat(64)}`,
      { container, pod },
    ],
    [
      "a container that is being removed",
      `0::/kubepods.slice/kubepods-pod${underscored}.slice/cri-containerd-${container}.scope (deleted)`,
      { container, pod },
    ],
    ["Kata", `0::/kubepods/pod${pod}/kata_${container}`, { container, pod }],
    ["docker by cgroupfs", `4:cpu,cpuacct:/docker/${container}`, { container }],
    ["docker", `0::/system.slice/docker-${container}.scope`, { container }],
    ["podman", `0::/machine.slice/libpod-${container}.scope/container`, { container }],
    ["a service of the node", "0::/system.slice/sshd.service", {}],
    ["a name that only begins like one", `0::/podcast-${pod}/x${container}`, {}],
    ["nothing", "", {}],
  ];
  for (const [name, cgroup, expected] of cases) {
    it(`knows ${name}`, () => {
      expect(containerOf(cgroup)).to.deep.equal(expected);
    });
  }
});
