import { expect } from "chai";
import { VolumeError } from "../../../../src/errors.ts";
import { MountTable } from "../../../../src/host/mount-table/mount-table.ts";
import type { FoundSource } from "../../../../src/plugins/api/volume-plugin.ts";
import { foundSource } from "../../../../src/plugins/host/found-source.ts";
import { entry } from "../../../lib/builders/mount-entries.ts";

const root = entry({ id: 1, parent: 0, point: "/", device: "8:1", fsType: "ext4" });
const tmpfs = { fsType: "tmpfs", source: "tmpfs" };

/** Node of a disk, as the agent finds it: on the file system with this number. */
const device = (canonicalPath: string, number: string, on: string, fsType = "tmpfs") =>
  ({
    kind: "blockDevice",
    canonicalPath,
    deviceNumber: number,
    fsType,
    identity: { device: on, root: "/sdb", source: "tmpfs" },
  }) as const;

/** Reason of the refusal, or the path that was found. */
function find(path: string, info: ReturnType<typeof device>, node: Parameters<typeof foundSource>[2]): string {
  try {
    return foundSource(path, info, node).path;
  } catch (error) {
    if (!(error instanceof VolumeError)) throw error;
    return error.reason;
  }
}

describe("foundSource of a device", () => {
  const table = new MountTable([
    root,
    entry({ id: 2, parent: 1, point: "/host/dev", device: "0:50", ...tmpfs }),
    entry({ id: 3, parent: 2, point: "/host/dev/shm", device: "0:51", ...tmpfs }),
    entry({ id: 4, parent: 1, point: "/host/tmp", device: "0:52", ...tmpfs }),
  ]);
  const node = { hostRoot: "/host", table, found: undefined };

  it("takes one in the node's /dev, also where that is a tmpfs (kind, k3d)", () => {
    expect(find("/dev/sdb", device("/host/dev/sdb", "8:16", "0:50"), node)).to.equal("/host/dev/sdb");
  });

  it("takes none on any other file system, beneath /dev or not", () => {
    expect(find("/dev/shm/sdb", device("/host/dev/shm/sdb", "8:16", "0:51"), node)).to.equal("SourceWrongType");
    expect(find("/tmp/sdb", device("/host/tmp/sdb", "8:16", "0:52"), node)).to.equal("SourceWrongType");
    const plain = { ...node, table: new MountTable([root]) };
    expect(find("/dev/sdb", device("/host/dev/sdb", "8:16", "8:1", "ext4"), plain)).to.equal("SourceWrongType");
  });

  it("follows a name in /dev to another number, and names elsewhere not", () => {
    const found: FoundSource = { path: "/host/dev/sdb", kind: "blockDevice", deviceNumber: "8:16" };
    const now = device("/host/dev/sdc", "8:32", "0:50");
    expect(find("/dev/disk/by-id/x", now, { ...node, found })).to.equal("/host/dev/sdc");
    for (const path of ["/dev/shm/x", "/tmp/x", "/srv/x"]) {
      expect(find(path, now, { ...node, found })).to.equal("SourceDiffers");
    }
    const before: FoundSource = { path: "/host/dev/disk/by-id/x", kind: "directory" };
    expect(find("/dev/disk/by-id/x", now, { ...node, found: before }), "of another kind").to.equal("SourceDiffers");
  });
});
