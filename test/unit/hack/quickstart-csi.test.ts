import { expect } from "chai";
import { changesBetween, factsOf, type World } from "../../../hack/quickstart/csi/facts.ts";
import { csiFarewell } from "../../../hack/quickstart/csi/farewell.ts";
import { lacksOf } from "../../../hack/quickstart/csi/needs.ts";
import { parseOptions, UsageError } from "../../../hack/quickstart/options.ts";

describe("quickstart --csi", () => {
  it("parseOptions reads --csi, and refuses it for a cluster that exists", () => {
    expect(parseOptions(["--csi", "--nodes", "2"])).to.include({ csi: true, nodes: 2 });
    const refused = () => parseOptions(["--csi", "--kubeconfig", "k", "--node", "n"]);
    expect(refused).to.throw(UsageError, "--csi brings a driver of its own");
  });

  const able = { exists: () => true, filesystems: "nodev\ttmpfs\n\txfs\n", path: ["/sbin"] };

  it("lacksOf finds nothing missing on a machine that has all", () => {
    expect(lacksOf(able)).to.deep.equal([]);
  });

  for (const [missing, machine] of [
    ["no loop devices", { ...able, exists: (path: string) => path !== "/dev/loop-control" }],
    ["the kernel has no xfs", { ...able, filesystems: "nodev\ttmpfs\n\txfs2\n" }],
    ["no losetup", { ...able, exists: (path: string) => path !== "/sbin/losetup" }],
    ["no setpriv", { ...able, exists: (path: string) => path !== "/sbin/setpriv" }],
  ] as const) {
    it(`lacksOf names it: ${missing}`, () => {
      const [lack, ...others] = lacksOf(machine);
      expect(lack?.what).to.include(missing);
      expect(lack?.remedy).not.to.equal("");
      expect(others).to.deep.equal([]);
    });
  }

  const nothing: World = {
    claim: undefined,
    volume: undefined,
    attachment: undefined,
    intent: undefined,
    mounts: [],
    bytes: undefined,
  };
  const between = (before: World, after: World) =>
    changesBetween(factsOf(before), factsOf(after)).map(({ by, text }) => `${by}: ${text}`);

  it("nothing is told of a world in which nothing is", () => {
    expect([...factsOf(nothing)]).to.deep.equal([]);
  });

  it("an attachment is told when it is there, when it is attached, and when it is gone", () => {
    const attachment = { metadata: { name: "nvi-0123456789ab" } };
    const wanted = { ...nothing, attachment };
    const attached = { ...nothing, attachment: { ...attachment, status: { attached: true } } };
    expect(between(nothing, wanted)).to.deep.equal(["objects: a VolumeAttachment is there (nvi-01234567…)"]);
    expect(between(wanted, attached)).to.deep.equal(["objects: the attacher says that it is attached"]);
    expect(between(attached, nothing)).to.deep.equal(["objects: the VolumeAttachment is gone: the volume is detached"]);
  });

  it("mounts are told by what they are for", () => {
    const line = (place: string) => `1 2 7:0 / ${place} rw,relatime shared:3 - xfs /dev/loop0 rw`;
    const places = ["/k/plugins/nodevolume.dev/h/staging", "/k/plugins/nodevolume.dev/h/mounts/0123456789"];
    const mounts = [...places, "/var/lib/nodevolume/mounts/a"].map(line);
    const [staged, published, mounted] = between(nothing, { ...nothing, mounts });
    expect(staged).to.equal("kernel: staged by the driver: /dev/loop0 is mounted as xfs");
    expect(published).to.equal("kernel: published by the driver: …/01234567");
    expect(mounted).to.equal("kernel: mounted on /var/lib/nodevolume/mounts/a");
    expect(between({ ...nothing, mounts }, nothing).at(-1)).to.equal(
      "kernel: not mounted on /var/lib/nodevolume/mounts/a any more",
    );
  });

  it("another size is told once, and not that the old one is no more", () => {
    const size = (storage: string, bytes: number) => ({
      ...nothing,
      volume: { spec: { capacity: { storage } } },
      bytes,
    });
    expect(between(size("320Mi", 2 ** 28), size("640Mi", 2 ** 29))).to.deep.equal([
      "objects: the PersistentVolume has 640Mi",
      "kernel: the file system has 512 MiB for files",
    ]);
  });

  it("csiFarewell moves the claim only where there is another node", () => {
    const input = {
      initPid: 7,
      hostPid: 9,
      kubectl: "/c/kubectl",
      cli: "/d/nvi",
      kubeconfig: "/tmp/k",
      logs: "/tmp/l",
    };
    expect(csiFarewell({ ...input, hosts: ["node-1"] }))
      .to.include("--nodes 2")
      .and.not.include("nodeSelector");
    const two = csiFarewell({ ...input, hosts: ["node-1", "node-2"] });
    expect(two).to.include('"kubernetes.io/hostname":"node-2"').and.include("KUBECONFIG=/proc/7/root/tmp/k");
  });
});
