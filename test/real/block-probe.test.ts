import { closeSync, constants, openSync } from "node:fs";
import { expect } from "chai";
import { probeBlockDevice } from "../../src/host/linux/device/block-probe.ts";
import { withDisk } from "../lib/kernel/with-node.ts";

describe("probeBlockDevice, on the real kernel", () => {
  let disk: string;

  withDisk(8, [], (path) => {
    disk = path;
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
