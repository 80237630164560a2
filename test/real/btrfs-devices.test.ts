import { execFileSync } from "node:child_process";
import { hash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { intent } from "../../hack/lib/agent-on-kernel/intent.ts";
import { slow } from "../../hack/lib/lanes/slow.ts";
import { asVolumeName } from "../../src/agent/model/identities.ts";
import { need } from "../lib/asserts/requirements.ts";
import { attachedStandIn } from "../lib/fakes/attached-stand-in.ts";
import { loopDevice } from "../lib/kernel/disks/loop-device.ts";
import { RealNode } from "../lib/kernel/real-node.ts";

/** BTRFS_IOC_SCAN_DEV and BTRFS_IOC_FORGET_DEV, as udev and `btrfs device scan` ask for them (linux/btrfs.h). */
const [scan, forget] = [0x50009404, 0x50009405];

describe("a btrfs of several devices, on the real kernel", function () {
  this.timeout(60_000);
  let node: RealNode;
  let disks: readonly [string, string];

  before(function () {
    need(this, "root", "loop-devices", "btrfs", "mkfs.btrfs", "python3");
  });
  beforeEach(() => {
    node = new RealNode();
    const disk = (name: string) => node.keep(loopDevice(`${node.path}/disks`, name, 128)).path;
    disks = [disk("one"), disk("two")];
    execFileSync("mkfs.btrfs", ["-q", "-d", "single", "-m", "single", ...disks]);
    for (const path of disks) control(scan, path);
  });
  afterEach(async () => {
    await using all = new AsyncDisposableStack(); // whatever fails, from the last to the first
    all.use(node);
    all.defer(() => {
      node.unmountAll();
      for (const path of disks) control(forget, path);
    });
  });

  function control(request: number, path: string): void {
    const open = 'os.open("/dev/btrfs-control", os.O_RDWR)';
    const call = `fcntl.ioctl(${open}, ${request}, bytearray(struct.pack("q4088s", 0, sys.argv[1].encode())))`;
    execFileSync("python3", ["-c", `import fcntl, os, struct, sys; ${call}`, path]);
  }

  async function failure(): Promise<{ reason: string; message: string } | undefined> {
    node.want(intent({ source: { local: { path: disks[0] } }, mounts: [{ path: node.target("a") }] }));
    node.forgetFailures();
    return (await node.volume(asVolumeName("node.volume-1"))).failure;
  }

  slow("is mounted where all of them are the node's own", async () => {
    expect((await failure())?.message).to.equal(undefined);
    writeFileSync(`${node.target("a")}/file`, "data");
  });

  slow(
    "is not mounted, and no byte of it changed, where one seems to be attached by iSCSI (a stand-in for sysfs)",
    async () => {
      const files = ["one", "two"].map((name) => `${node.path}/disks/${name}`);
      execFileSync("sync");
      const before = files.map((file) => hash("sha256", readFileSync(file)));
      using _standIn = attachedStandIn(`${node.path}/sys`, { path: disks[1], by: "session1" });
      const { reason, message } = (await failure()) ?? { reason: "", message: "" };
      expect(reason, message).to.equal("FilesystemUnsupported");
      expect(message).to.include(`would be mounted with ${disks[1]} (attached by iscsi)`);
      expect(node.mounts()).to.deep.equal([]);
      execFileSync("sync");
      expect(files.map((file) => hash("sha256", readFileSync(file)))).to.deep.equal(before);
    },
  );
});
