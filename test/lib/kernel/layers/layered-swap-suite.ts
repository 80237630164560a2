import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { expect } from "chai";
import { intent } from "../../../../hack/lib/agent-on-kernel/intent.ts";
import { slowSuite } from "../../../../hack/lib/lanes/slow.ts";
import { asVolumeName } from "../../../../src/agent/model/identities.ts";
import type { RealNode } from "../real-node.ts";
import type { LayersWorld } from "./layers-world.ts";
import { areaOn, swapOn, turnOffSwapIn } from "./swap-of.ts";
import { layeredDevice, passphrase } from "./volume-group.ts";

const name = asVolumeName("node.volume-1");
const mebi = 1024 * 1024;
const secretRef = { namespace: "default", name: "disk" };

/** What swap with layers beneath it does, wherever these come from. */
export function describeLayeredSwap(world: LayersWorld): void {
  slowSuite(`swap: ${world.title}`, function () {
    this.timeout(600_000);
    let node: RealNode;
    let generation = 0;

    before(function () {
      world.need(this);
    });
    beforeEach(() => {
      node = world.node();
      passphrase(node, "disk", "correct horse battery");
    });
    afterEach(async () => {
      const journal = `${node.stateDir}/journal`;
      if (existsSync(journal)) turnOffSwapIn(readFileSync(journal, "utf8"));
      await node[Symbol.asyncDispose]();
    });

    const want = async (local: object, { megabytes, deleting = false }: { megabytes?: number; deleting?: boolean }) => {
      const capacity = megabytes === undefined ? {} : { capacityBytes: `${megabytes * mebi}` };
      const asked = { source: { local }, fsType: "swap", mountOptions: ["pri=0"], mounts: [] } as const;
      node.want(
        intent({ ...asked, mountOptions: [...asked.mountOptions], ...capacity, deleting, generation: ++generation }),
      );
      node.forgetFailures();
      const volume = await node.volume(name);
      const { path = "" } = volume.actualState.stage.record ?? {};
      return { why: volume.failure?.message, phase: volume.phase, path, reason: volume.failure?.reason };
    };
    const bytes = (device: string) => Number(execFileSync("blockdev", ["--getsize64", device], { encoding: "utf8" }));
    it("a LUKS + LVM volume with a key that nobody has is on, and off and closed when it is released", async () => {
      const local = {
        lvm: { volumeGroup: world.group(node, 100), logicalVolume: "swap" },
        encryption: { randomKey: true },
      };
      const { why, path } = await want(local, { megabytes: 48 });
      expect(why).to.equal(undefined);
      expect(swapOn(path)?.priority).to.equal(0);
      expect((await want(local, { megabytes: 48, deleting: true })).phase).to.equal("released");
      expect(world.opened(node)).to.deep.equal([]);
    });

    it("a key that nobody has is another each time, and a larger size makes the area anew", async () => {
      const local = {
        lvm: { volumeGroup: world.group(node, 200), logicalVolume: "swap" },
        encryption: { randomKey: true },
      };
      const first = await want(local, { megabytes: 48 });
      expect(first.why).to.equal(undefined);
      const area = areaOn(first.path);
      const done = node.done.length;
      await node.restart();
      await node.converge();
      expect(node.done.length, "nothing is to be done after a restart").to.equal(done);
      const size = bytes(first.path);
      const grown = await want(local, { megabytes: 96 });
      expect(grown.why).to.equal(undefined);
      expect(bytes(grown.path)).to.equal(size + 48 * mebi);
      expect(swapOn(grown.path)?.bytes).to.be.above(size + 40 * mebi);
      expect(areaOn(grown.path), "what was there is lost with its key").not.to.equal(area);
    });

    it("a LUKS volume by a Secret keeps its area; a header that was not made for it gets no random key", async () => {
      const disk = layeredDevice(node, 48);
      const kept = { path: disk, encryption: { secretRef } };
      const first = await want(kept, {});
      expect(first.why).to.equal(undefined);
      const area = areaOn(first.path);
      expect((await want(kept, { deleting: true })).phase).to.equal("released");
      const again = await want(kept, {});
      expect([again.why, areaOn(again.path)]).to.deep.equal([undefined, area]);
      expect((await want(kept, { deleting: true })).phase).to.equal("released");
      const random = await want({ path: disk, encryption: { randomKey: true } }, {});
      expect(random.reason).to.equal("DeviceNotEmpty");
      expect(random.why).to.include("not made for this volume");
    });
  });
}
