import { execFileSync } from "node:child_process";
import { expect } from "chai";
import { intent } from "../../hack/lib/agent-on-kernel/intent.ts";
import { slow } from "../../hack/lib/lanes/slow.ts";
import { until } from "../../hack/lib/until.ts";
import { asVolumeName } from "../../src/agent/model/identities.ts";
import { statusOf } from "../../src/agent/status/intent-status.ts";
import { summaryOf } from "../../src/agent/status/volume-summary.ts";
import { LinuxSwapSource } from "../../src/host/linux/device/linux-swaps.ts";
import { loopDevice } from "../lib/kernel/disks/loop-device.ts";
import { areaOn, swapGoesWith, swapOn } from "../lib/kernel/layers/swap-of.ts";
import type { RealNode } from "../lib/kernel/real-node.ts";
import { withNode } from "../lib/kernel/with-node.ts";

const name = asVolumeName("node.volume-1");

describe("swap on a local disk, on the real kernel", function () {
  this.timeout(60_000);
  let node: RealNode;
  let disk: string;
  let generation = 0;

  withNode(["loop-devices", "mkfs.ext4", "ext4"], (made) => {
    node = made;
    disk = node.keep(swapGoesWith(loopDevice(`${node.path}/disks`, "disk", 24))).path;
  });

  const swap = (options: { mountOptions?: string[]; deleting?: boolean; label?: string } = {}) => {
    const { label, mountOptions = ["pri=0"], deleting = false } = options;
    const local = { path: disk, ...(label !== undefined && { fsLabel: label }) };
    return intent({
      source: { local },
      fsType: "swap",
      mountOptions,
      mounts: [],
      deleting,
      generation: ++generation,
    });
  };
  const want = (options?: Parameters<typeof swap>[0]) => {
    node.want(swap(options));
    node.forgetFailures();
    return node.volume(name);
  };

  slow("is made, on with its options, known after a restart, and off when it is released", async () => {
    const volume = await want({ mountOptions: ["pri=3", "discard=once"], label: "spare" });
    expect(volume.failure?.message).to.equal(undefined);
    expect(swapOn(disk)?.priority).to.equal(3);
    expect(execFileSync("blkid", ["-p", "-s", "LABEL", "-o", "value", disk], { encoding: "utf8" }).trim()).to.equal(
      "spare",
    );
    const status = statusOf(swap(), volume, { agent: { bootID: "b", epoch: 1 }, now: 0 });
    expect(status).to.include({ state: "Mounted", inUse: true, desiredMounts: 0, readyMounts: 0, devicePath: disk });
    const shown = status.conditions?.map(({ type, status: is, reason }) => `${type} ${is} ${reason}`);
    expect(shown).to.include.members(["Ready True InUseAsSwap", "Mounted True InUseAsSwap", "Drifted False InSync"]);
    const area = areaOn(disk);
    const done = node.done.length;
    await node.restart();
    expect((await node.converge()).operations).to.deep.equal([]);
    expect(node.done.length, "nothing was done after the restart").to.equal(done);
    expect((await want({ deleting: true })).phase).to.equal("released");
    expect(swapOn(disk)).to.equal(undefined);
    expect((await want()).failure?.message).to.equal(undefined);
    expect(areaOn(disk), "the area that is there is used").to.equal(area);
  });

  slow("is turned on again when somebody turns it off, which the kernel tells of", async () => {
    await want();
    const source = new LinuxSwapSource("/");
    let told = 0;
    const cancel = source.watch(() => told++);
    try {
      await until("the first look", 5_000, () => told > 0);
      const before = told;
      execFileSync("swapoff", [disk]);
      await until("the kernel's word", 5_000, () => told > before);
    } finally {
      cancel();
    }
    const gone = (await node.plan()).volumes.get(name);
    expect(gone && summaryOf(gone).drift).to.deep.equal({
      class: "Missing",
      message: `somebody has turned off the swap on ${disk}`,
    });
    await node.converge();
    expect(swapOn(disk)?.priority).to.equal(0);
  });

  it("of somebody else is never touched", async () => {
    execFileSync("mkswap", [disk]);
    execFileSync("swapon", ["-p", "1", disk]);
    const { failure } = await want();
    expect(failure?.reason).to.equal("DeviceBusy");
    expect(failure?.message).to.include(`swapoff ${disk}`);
    expect((await want({ deleting: true })).phase).to.equal("released");
    expect(swapOn(disk)?.priority).to.equal(1);
    expect(node.done.filter((step) => step.startsWith("unstage"))).to.deep.equal([]);
  });

  slow("that is on is formatted and mounted by no other volume", async () => {
    await want();
    const mounts = [{ path: node.target("a") }];
    const other = intent({ name: "node.other", source: { local: { path: disk } }, fsType: "ext4", mounts });
    node.want(swap(), other);
    expect((await node.volume(asVolumeName("node.other"))).failure?.reason).to.equal("DeviceBusy");
    expect(swapOn(disk)?.priority).to.equal(0);
  });

  it("is made on nothing but what is proved empty (law L11)", async () => {
    const at = 24 * 1024 * 1024 - 512;
    execFileSync("dd", [`of=${disk}`, "bs=1", `seek=${at}`, "count=1", "conv=notrunc", "status=none"], { input: "x" });
    expect((await want()).failure?.reason).to.equal("DeviceNotEmpty");
    execFileSync("mkfs.ext4", ["-q", "-F", disk]);
    expect((await want()).failure?.reason).to.equal("FilesystemMismatch");
    expect(swapOn(disk)).to.equal(undefined);
  });

  slow("goes off and on again for other options", async () => {
    await want();
    expect((await want({ mountOptions: ["pri=7"] })).failure?.message).to.equal(undefined);
    expect(swapOn(disk)?.priority).to.equal(7);
    expect(node.done).to.deep.equal(["stage", "unstage", "stage"]);
  });

  slow("that was turned on before the agent ended is taken for its own", async () => {
    node.through((host) => ({
      ...host,
      effects(operation) {
        const effects = host.effects(operation);
        const { swaps } = effects;
        const on = async (...args: Parameters<typeof swaps.on>) => {
          await swaps.on(...args);
          throw new Error("the agent ends");
        };
        return { ...effects, swaps: { read: () => swaps.read(), on, off: (...args) => swaps.off(...args) } };
      },
    }));
    node.want(swap());
    const [first] = (await node.plan()).operations;
    if (first === undefined) throw new Error("nothing to do");
    await node.run(first);
    expect(swapOn(disk)).not.to.equal(undefined);
    await node.restart();
    node.forgetFailures();
    expect((await node.volume(name)).actualState.stage.truth).to.equal("mounted");
    expect((await want({ deleting: true })).phase).to.equal("released");
    expect(swapOn(disk)).to.equal(undefined);
  });
});
