import { closeSync, fstatSync, openSync, writeSync } from "node:fs";
import { expect } from "chai";
import { VolumeError } from "../../src/errors.ts";
import { probeBlockDevice } from "../../src/host/linux/device/block-probe.ts";
import { openUnchanged, wipe } from "../../src/host/linux/device/device-writes.ts";
import { deviceNumberOf } from "../../src/host/linux/syscall/block-device.ts";
import { startOf } from "../lib/kernel/disks/changing-disks.ts";
import { withDisk } from "../lib/kernel/with-node.ts";

const data = "data of somebody";

describe("a device that somebody opens while it is read, on the real kernel", () => {
  let path: string;
  let looks: number;

  withDisk(8, [], (disk) => {
    path = disk;
    looks = 0;
  });

  function device() {
    const fd = openSync(path, "r");
    try {
      return { path, deviceNumber: deviceNumberOf(fstatSync(fd)) };
    } finally {
      closeSync(fd);
    }
  }

  /** Nobody has it before it is read, and somebody has afterwards. */
  function openedMeanwhile(): void {
    looks += 1;
    if (looks > 1) throw new VolumeError("DeviceBusy", "transient", "somebody has it by now");
  }

  it("is not handed to mkfs: it is asked once more who has it, after it was found empty", () => {
    expect(() => openUnchanged(device(), undefined, openedMeanwhile)).to.throw("by now");
    closeSync(openUnchanged(device(), undefined, () => {}));
  });

  it("is not handed to mkfs as the rest of one that was begun, if it has something else on it by now", () => {
    const write = (text: string) => {
      const fd = openSync(path, "r+");
      writeSync(fd, text);
      closeSync(fd);
      return probeBlockDevice(path, () => undefined).digest;
    };
    const rest = write("the rest of a file system");
    closeSync(openUnchanged(device(), rest, () => {}));
    write(data);
    expect(() => openUnchanged(device(), rest, () => {})).to.throw("other contents");
  });

  it("is not wiped", () => {
    const fd = openSync(path, "r+");
    writeSync(fd, data);
    closeSync(fd);
    const digest = probeBlockDevice(path, () => undefined).digest ?? "";
    expect(() => wipe(device(), digest, openedMeanwhile)).to.throw("by now");
    expect(startOf(path, data.length)).to.equal(data);
    wipe(device(), digest, () => {});
    expect(startOf(path, data.length)).not.to.equal(data);
  });
});
