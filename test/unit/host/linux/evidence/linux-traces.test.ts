import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { LinuxTraces } from "../../../../../src/host/linux/evidence/linux-traces.ts";

describe("LinuxTraces", () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "traces-"));
  });
  afterEach(() => rmSync(root, { recursive: true }));
  const cgroup = (path: string) => mkdirSync(join(root, "sys/fs/cgroup", path), { recursive: true });
  const versionTwo = () => {
    cgroup("");
    writeFileSync(join(root, "sys/fs/cgroup/cgroup.controllers"), "cpu memory\n");
  };

  it("finds pods as kubelet names their cgroups, with systemd and without", async () => {
    versionTwo();
    cgroup(
      "kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod9b1c0ad4_1111_4222_8333_444455556666.slice/cri-1.scope",
    );
    cgroup("kubepods.slice/kubepods-podaaaa0ad4_1111_4222_8333_444455556666.slice");
    cgroup(
      "kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-besteffort.slice/kubelet-kubepods-besteffort-podb_1.slice",
    );
    cgroup("kubepods/besteffort/podcccc0ad4-1111-4222-8333-444455556666/container");
    cgroup("kubepods/poddddd0ad4-1111-4222-8333-444455556666");
    cgroup("system.slice/mypodman-podx.service");
    expect([...((await new LinuxTraces(root).pods()) ?? [])].sort()).to.deep.equal([
      "9b1c0ad4-1111-4222-8333-444455556666",
      "aaaa0ad4-1111-4222-8333-444455556666",
      "b-1",
      "cccc0ad4-1111-4222-8333-444455556666",
      "dddd0ad4-1111-4222-8333-444455556666",
    ]);
  });

  it("finds them in each hierarchy of cgroup v1, also those that are left in one of them alone", async () => {
    const [both, one] = ["podaaaa0ad4-1111-4222-8333-444455556666", "podbbbb0ad4-1111-4222-8333-444455556666"];
    cgroup(`cpu,cpuacct/kubepods/${both}`);
    symlinkSync("cpu,cpuacct", join(root, "sys/fs/cgroup/cpu"));
    cgroup(`memory/kubepods/besteffort/${one}`);
    cgroup("systemd/kubepods.slice/kubepods-podcccc0ad4_1111_4222_8333_444455556666.slice");
    cgroup("unified/kubepods/podx"); // the hybrid layout of systemd
    cgroup("memory/system.slice/kubepods");
    expect([...((await new LinuxTraces(root).pods()) ?? [])].sort()).to.deep.equal([
      both.slice(3),
      one.slice(3),
      "cccc0ad4-1111-4222-8333-444455556666",
      "x",
    ]);
  });

  it("finds them beneath a --cgroup-root of kubelet, with systemd and without", async () => {
    versionTwo();
    cgroup("root-1/kubepods/burstable/podaaaa0ad4-1111-4222-8333-444455556666/c");
    cgroup("root-2/kubepods/podbbbb0ad4-1111-4222-8333-444455556666");
    cgroup("own.slice/own-kubepods.slice/own-kubepods-besteffort.slice/own-kubepods-besteffort-podc_1.slice");
    cgroup("system.slice/podman-podx.scope/kubepods/pody");
    expect([...((await new LinuxTraces(root).pods()) ?? [])].sort()).to.deep.equal([
      "aaaa0ad4-1111-4222-8333-444455556666",
      "bbbb0ad4-1111-4222-8333-444455556666",
      "c-1",
    ]);
  });

  it("knows nothing of pods where none has a cgroup", async () => {
    expect(await new LinuxTraces(root).pods()).to.equal(undefined);
    versionTwo();
    cgroup("system.slice/x.service");
    expect(await new LinuxTraces(root).pods()).to.equal(undefined);
  });

  it("reads what kubelet has written beside a staged volume, and takes half of it for nothing", async () => {
    const directory = "/var/lib/kubelet/plugins/kubernetes.io/csi/d.example/abc";
    const written = () => new LinuxTraces(root).stagedVolume(directory);
    expect(await written()).to.equal(undefined);
    mkdirSync(join(root, directory), { recursive: true });
    const text = JSON.stringify({ driverName: "d.example", volumeHandle: "v", seLinuxMountContext: "" });
    for (const half of ["", text.slice(0, 20), "{}", JSON.stringify({ driverName: "d", volumeHandle: 1 }), "null"]) {
      writeFileSync(join(root, directory, "vol_data.json"), half);
      expect(await written(), half).to.equal(undefined);
    }
    writeFileSync(join(root, directory, "vol_data.json"), text);
    expect(await written()).to.deep.equal({ driver: "d.example", volumeHandle: "v" });
  });

  it("finds loop devices whose file was removed", async () => {
    const device = (name: string, backing: string | undefined) => {
      mkdirSync(join(root, "sys/block", name, "loop"), { recursive: true });
      writeFileSync(join(root, "sys/block", name, "dev"), `7:${name.slice(4)}\n`);
      if (backing !== undefined) writeFileSync(join(root, "sys/block", name, "loop/backing_file"), `${backing}\n`);
    };
    device("loop0", "/var/there.img");
    device("loop1", "/var/gone.img (deleted)");
    device("loop2", undefined);
    mkdirSync(join(root, "sys/block/sda"));
    expect(await new LinuxTraces(root).staleLoops()).to.deep.equal([
      { path: "/dev/loop1", deviceNumber: "7:1", backing: "/var/gone.img" },
    ]);
  });
});
