import { readdirSync } from "node:fs";
import { expect } from "chai";
import { watchMountTable } from "../../src/host/linux/mount-table/mount-watch.ts";

describe("watchMountTable", () => {
  const descriptors = () => readdirSync("/proc/self/fd").length;
  const none = 1_000_000;

  it("leaves nothing open when it fails on the way, and nothing once it is cancelled", () => {
    watchMountTable("/proc/self/mountinfo", undefined, () => {})(); // what is loaded stays
    const before = descriptors();
    for (let i = 0; i < 3; i++) expect(() => watchMountTable("/proc/self/mountinfo", none, () => {})).to.throw("EBADF");
    expect(descriptors()).to.equal(before);
    const cancel = watchMountTable("/proc/self/mountinfo", undefined, () => {});
    expect(descriptors()).to.equal(before + 2);
    cancel();
    cancel();
    expect(descriptors()).to.equal(before);
  });
});
