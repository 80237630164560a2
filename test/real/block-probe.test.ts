import { closeSync, constants, mkdirSync, openSync } from "node:fs";
import { expect } from "chai";
import { probeBlockDevice } from "../../src/host/linux/device/block-probe.ts";
import { need } from "../lib/asserts/requirements.ts";
import { loopDevice } from "../lib/kernel/disks/loop-device.ts";
import { RealNode } from "../lib/kernel/real-node.ts";

describe("probeBlockDevice, on the real kernel", () => {
  let node: RealNode;
  let disk: string;

  before(function () {
    need(this, "root", "loop-devices");
  });
  beforeEach(() => {
    node = new RealNode();
    mkdirSync(`${node.path}/disks`);
    disk = node.keep(loopDevice(`${node.path}/disks`, "disk", 8)).path;
  });
  afterEach(async () => {
    await node[Symbol.asyncDispose]();
  });

  const claim = () => openSync(disk, constants.O_RDONLY | constants.O_EXCL);

  it("has nothing claimed while it reads: a mount by somebody else is not refused", () => {
    let looked = false;
    probeBlockDevice(disk, ({ claimed }) => {
      looked = !claimed;
      closeSync(claim());
      return undefined;
    });
    expect(looked).to.equal(true);
  });

  it("tells a claim of somebody else, and reads all the same", () => {
    const fd = claim();
    const users = { text: "claimed", heldBy: [] };
    const probe = probeBlockDevice(disk, ({ claimed }) => (claimed ? users : undefined));
    expect(probe).to.deep.equal({ sizeBytes: 8 * 1024 * 1024, journalLeft: false, users });
    closeSync(fd);
  });
});
