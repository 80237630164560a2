import { expect } from "chai";
import { publishedNode } from "../../../../../src/host/linux/device/published-nodes.ts";
import type { MountEntry } from "../../../../../src/host/mount-table/mountinfo.ts";

describe("the mount of a disk's node, in made mount tables", () => {
  const disk = { path: "/dev/sdb", deviceNumber: "8:16", name: "sdb" };
  const mount = (point: string, root: string, fsType: string, device: string) =>
    ({ point, root, fsType, device }) as MountEntry;
  const pointOf = (mounts: readonly MountEntry[], seen: { device: string; stands?: string } | undefined) =>
    publishedNode(disk, mounts, () => seen)?.point;
  const published = mount("/pods/1/volumeDevices/a", "/sdb", "devtmpfs", "0:5");

  it("is found by the number that the node stands for, under any name", () => {
    expect(pointOf([published], { device: "0:5", stands: "8:16" })).to.equal(published.point);
    const renamed = mount("/csi/dev", "/mapper/data", "tmpfs", "0:30");
    expect(pointOf([renamed], { device: "0:30", stands: "8:16" })).to.equal(renamed.point);
  });

  it("is no directory of a pod's tmpfs, and no other disk's node, of the same name", () => {
    const subPath = mount("/pods/1/volume-subpaths/sdb", "/sdb", "tmpfs", "0:40");
    expect(pointOf([subPath], { device: "0:40" })).to.equal(undefined);
    expect(pointOf([published], { device: "0:5", stands: "8:32" })).to.equal(undefined);
  });

  it("is no whole file system of devices, and not the node that is asked about", () => {
    const seen = { device: "0:5", stands: "8:16" };
    expect(pointOf([mount("/dev", "/", "devtmpfs", "0:5")], seen)).to.equal(undefined);
    expect(pointOf([mount("/dev/sdb", "/sdb", "devtmpfs", "0:5")], seen)).to.equal(undefined);
  });

  it("is found by its name where it is covered, or lies beneath what may hang, which is not looked at", () => {
    expect(pointOf([published], { device: "0:99" })).to.equal(published.point);
    const looked: string[] = [];
    const look = (point: string) => void looked.push(point);
    const beneath = mount("/nfs/dev", "/sdb", "devtmpfs", "0:5");
    const nfs = mount("/nfs", "/", "nfs4", "0:50");
    expect(publishedNode(disk, [nfs, beneath], look as () => undefined)?.point).to.equal("/nfs/dev");
    expect(looked).to.deep.equal([]);
  });
});
