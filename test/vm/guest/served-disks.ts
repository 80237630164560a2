import { execFileSync } from "node:child_process";
import { expect } from "chai";
import { intent } from "../../../hack/lib/agent-on-kernel/intent.ts";
import { asVolumeName } from "../../../src/agent/model/identities.ts";
import { soonMs } from "../../lib/kernel/agents/vm-world.ts";
import { loopDevice } from "../../lib/kernel/disks/loop-device.ts";
import { RealNode } from "../../lib/kernel/real-node.ts";

const megabytes = 48;
const config = "/sys/kernel/config";
const subsystem = `${config}/nvmet/subsystems/nvo-served`;
const lio = `${config}/target/core/fileio_7`;

/** Neither opens the device with a claim, nor in a process. */
const servers = [
  {
    by: "an NVMe target",
    start: `modprobe nvmet; mkdir ${subsystem}; mkdir ${subsystem}/namespaces/1
      printf %s "$disk" >${subsystem}/namespaces/1/device_path; echo 1 >${subsystem}/namespaces/1/enable`,
    stop: `rmdir ${subsystem}/namespaces/1; rmdir ${subsystem}`,
    place: `${subsystem}/namespaces/1`,
  },
  {
    by: "LIO, as a file",
    start: `modprobe target_core_file; mkdir -p ${lio}/served
      echo "fd_dev_name=$disk,fd_dev_size=${megabytes * 1024 * 1024}" >${lio}/served/control; echo 1 >${lio}/served/enable`,
    stop: `rmdir ${lio}/served; rmdir ${lio}`,
    place: `${lio}/served`,
  },
  {
    // Its path is another disk's on the node.
    by: "LIO, as a file that a container has named, where only that has mounted configfs",
    start: `modprobe target_core_file; export numbers="$(stat -c '%Hr %Lr' "$disk")"; umount ${config}
      unshare --mount sh -ec 'mount -t configfs configfs ${config}; mount -t tmpfs dev /dev; mknod /dev/vda b $numbers
        mkdir -p ${lio}/served; echo "fd_dev_name=/dev/vda,fd_dev_size=${megabytes * 1024 * 1024}" >${lio}/served/control
        echo 1 >${lio}/served/enable; echo $$ >/run/nvo-container; exec sleep 3600' &
      until [ -s /run/nvo-container ]; do sleep 0.1; done`,
    stop: `mount -t configfs configfs ${config}; kill "$(cat /run/nvo-container)"; rm /run/nvo-container
      rmdir ${lio}/served; rmdir ${lio}`,
    place: `${lio}/served`,
  },
] as const;

describe("a disk that the kernel serves to other machines", function () {
  this.timeout(soonMs);
  let node: RealNode;
  let disk: string;

  beforeEach(() => {
    node = new RealNode();
    disk = node.keep(loopDevice(node.path, "disk", megabytes)).path;
  });
  afterEach(() => node[Symbol.asyncDispose]());

  const sh = (script: string) =>
    execFileSync("sh", ["-ec", script], { env: { ...process.env, disk }, stdio: ["ignore", 2, 2], timeout: soonMs });
  const signature = () => execFileSync("sh", ["-c", `blkid -p -o value -s TYPE ${disk} || true`], { encoding: "utf8" });
  async function failure() {
    node.forgetFailures();
    return (await node.volume(asVolumeName("node.volume-1"))).failure;
  }

  for (const { by, start, stop, place } of servers) {
    it(`by ${by}, is not formatted, and is once it is not served any more`, async () => {
      node.want(intent({ source: { local: { path: disk } }, fsType: "ext4", mounts: [{ path: node.target("a") }] }));
      sh(start);
      try {
        const busy = await failure();
        expect([busy?.reason, signature()], busy?.message).to.deep.equal(["DeviceBusy", ""]);
        expect(busy?.message).to.include(place);
      } finally {
        sh(stop);
      }
      expect((await failure())?.message).to.equal(undefined);
      expect(node.mountAt(node.target("a"))?.source).to.equal(disk);
    });
  }
});
