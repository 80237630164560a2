import { execFileSync } from "node:child_process";
import { closeSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { intent } from "../../../../hack/lib/agent-on-kernel/intent.ts";
import { slow } from "../../../../hack/lib/lanes/slow.ts";
import { asVolumeName } from "../../../../src/agent/model/identities.ts";
import type { RealNode } from "../real-node.ts";
import type { LayersWorld } from "./layers-world.ts";
import { layeredDevice, passphrase } from "./volume-group.ts";

const name = asVolumeName("node.volume-1");
const mebi = 1024 * 1024;
const secretRef = { namespace: "default", name: "disk" };
const words = "correct horse battery";

/** What local volumes with layers do, wherever these come from. */
export function describeLayers(world: LayersWorld): void {
  describe(world.title, () => {
    let node: RealNode;
    let generation = 0;

    before(function () {
      world.need(this);
    });
    beforeEach(() => {
      node = world.node();
      passphrase(node, "disk", words);
    });
    afterEach(async () => {
      await node[Symbol.asyncDispose]();
    });

    const want = (local: object, options: { megabytes?: number; fsType?: "ext4" | "xfs"; deleting?: boolean } = {}) => {
      const { megabytes, fsType = "ext4", deleting = false } = options;
      const capacity = megabytes === undefined ? {} : { capacityBytes: `${megabytes * mebi}` };
      const mounts = [{ path: node.target("a") }];
      generation++;
      node.want(intent({ source: { local }, fsType, ...capacity, mounts, deleting, generation }));
      node.forgetFailures();
      return node.volume(name);
    };
    const size = () =>
      Number(execFileSync("df", ["--output=size", "-B1", node.target("a")], { encoding: "utf8" }).split("\n")[1]);

    slow(`a LUKS + LVM + ${world.grows.fsType} volume is made, grown online, and released with its data`, async () => {
      const { fsType, megabytes } = world.grows;
      const group = world.group(node, megabytes + 200);
      const local = { lvm: { volumeGroup: group, logicalVolume: "data-1" }, encryption: { secretRef } };
      expect((await want(local, { megabytes, fsType })).failure?.message).to.equal(undefined);
      writeFileSync(`${node.target("a")}/token`, "data");
      // Without the options: those of an ext4 that has grown may say more (mb_optimize_scan).
      const mounts = () => node.mounts().map(({ id, device, root, point }) => ({ id, device, root, point }));
      const before = mounts();
      const small = size();
      const grown = await want(local, { megabytes: megabytes + 100, fsType });
      expect(grown.failure?.message).to.equal(undefined);
      expect(node.done).to.include("expand");
      expect(size()).to.be.above(small + 80 * mebi);
      expect(mounts(), "nothing was unmounted").to.deep.equal(before);
      const written = execFileSync("cat", [`${node.stateDir}/journal`], { encoding: "utf8" }) + node.log.join();
      expect(written).not.to.include(words);
      expect((await want(local, { fsType, deleting: true })).phase).to.equal("released");
      expect(world.opened(node)).to.deep.equal([]);
      const [volume = "", ...others] = world.volumes(node, group);
      expect(others).to.deep.equal([]);
      expect(volume, "it is there, without a device").to.match(/^data-1 +nodevolume-[0-9a-f]{32}$/);
      expect((await want(local, { fsType })).failure?.message).to.equal(undefined);
      expect(readFileSync(`${node.target("a")}/token`, "utf8")).to.equal("data");
    });

    slow("a passphrase that does not open the disk is said, and the Secret's next one is tried", async () => {
      const disk = layeredDevice(node, 48);
      const local = { path: disk, encryption: { secretRef } };
      expect((await want(local)).failure?.message).to.equal(undefined);
      passphrase(node, "disk", "another", "u/2");
      await node.restart();
      expect((await want(local)).failure?.message, "what is open stays open").to.equal(undefined);
      expect((await want(local, { deleting: true })).phase).to.equal("released");
      const { failure } = await want(local);
      expect(failure?.reason).to.equal("PassphraseRefused");
      expect(failure?.message).not.to.include("another");
      expect(world.opened(node)).to.deep.equal([]);
      passphrase(node, "disk", `${words}\n`, "u/3");
      expect((await want(local)).failure?.message).to.equal(undefined);
    });

    slow("a header that was made and never had a file system goes on after a crash", async () => {
      const group = world.group(node, 200);
      const local = { lvm: { volumeGroup: group, logicalVolume: "data" }, encryption: { secretRef } };
      const { failure } = await want(local, { megabytes: 32, fsType: "xfs" }); // too small for it
      expect(failure?.reason).to.equal("FormatFailed");
      await node.restart();
      expect((await want(local, { megabytes: 48 })).failure?.message).to.equal(undefined);
      expect(node.mountAt(node.target("a"))?.fsType).to.equal("ext4");
      const record = (await node.journal()).records.get(name);
      expect([record?.formatting, record?.stage?.undo?.["fresh"]]).to.deep.equal([undefined, undefined]);
    });

    it("as it is (volumeMode Block) what is opened is shown, grown, and closed when nobody has it open any more", async () => {
      const lvm = { volumeGroup: world.group(node, 200), logicalVolume: "raw" };
      const block = (megabytes: number, deleting = false) => {
        const mounts = [{ path: node.target("a") }];
        const volume = { source: { local: { lvm, encryption: { secretRef } } }, volumeMode: "Block" } as const;
        node.want(
          intent({ ...volume, capacityBytes: `${megabytes * mebi}`, mounts, deleting, generation: ++generation }),
        );
        node.forgetFailures();
        return node.volume(name);
      };
      const bytes = () => Number(execFileSync("blockdev", ["--getsize64", node.target("a")], { encoding: "utf8" }));
      expect((await block(48)).failure?.message).to.equal(undefined);
      const before = bytes();
      expect((await block(96)).failure?.message).to.equal(undefined);
      expect(bytes()).to.equal(before + 48 * mebi);
      const open = openSync(node.target("a"), "r");
      const held = await block(96, true);
      closeSync(open);
      expect([held.phase, held.failure?.reason]).to.deep.equal(["tearDown", "TargetBusy"]);
      expect((await block(96, true)).phase).to.equal("released");
      expect(world.opened(node)).to.deep.equal([]);
    });

    it("a device with anything on it gets no header (law L11)", async () => {
      const disk = layeredDevice(node, 48);
      const local = { path: disk, encryption: { secretRef } };
      execFileSync("dd", [`of=${disk}`, "bs=1", "seek=700", "count=1", "conv=notrunc", "status=none"], { input: "x" });
      expect((await want(local)).failure?.reason).to.equal("DeviceNotEmpty");
      execFileSync("mkfs.ext4", ["-q", "-F", disk]);
      expect((await want(local)).failure?.reason).to.equal("FilesystemMismatch");
      expect(execFileSync("blkid", ["-p", "-s", "TYPE", "-o", "value", disk], { encoding: "utf8" }).trim()).to.equal(
        "ext4",
      );
    });

    it("a volume group without room, and one that is not there, are said", async () => {
      const group = world.group(node, 32);
      const local = { lvm: { volumeGroup: group, logicalVolume: "data" } };
      expect((await want(local, { megabytes: 100 })).failure?.reason).to.equal("VolumeGroupFull");
      expect((await want(local)).failure?.reason).to.equal("SourceNotFound");
      const missing = { lvm: { volumeGroup: "no-such-group", logicalVolume: "data" } };
      const { failure } = await want(missing, { megabytes: 4 });
      expect([failure?.reason, failure?.message.includes("vgcreate no-such-group")]).to.deep.equal([
        "SourceNotFound",
        true,
      ]);
    });
  });
}
