import { expect } from "chai";
import { Disk, harmTo, type Leave, note } from "../../lib/disk-worlds/disk.ts";

const labels = ["somebodys"];

describe("a disk of a random world", () => {
  describe("that was attached after every volume had looked for one", () => {
    it("may be mounted where a volume asks for the label of its file system, and not be written otherwise", () => {
      const disk = late("fileSystem", "somebodys");
      expect(disk.leaveNow(false, labels)).to.equal("mount");
      expect(harmTo(seen(disk, "mount"), now("by e2fsck"))).to.equal(undefined);
      expect(harmTo(seen(disk, "mount"), { whole: "other", parts: ["other"] })).to.match(/data at 4096 is not what it/);
    });

    const left: readonly (readonly [string, Disk, readonly string[]])[] = [
      ["with that label, of which nobody asks for one", late("fileSystem", "somebodys"), []],
      ["with that label, of which somebody asks for another", late("fileSystem", "somebodys"), ["others"]],
      ["with a file system without a label", late("fileSystem"), labels],
      ["with data", late("data"), labels],
      ["with nothing", new Disk(of("disk-0")), labels],
      ["that has lost its file system to data", relabelled(), labels],
    ];
    for (const [what, disk, asked] of left)
      it(`is left as it is: one ${what}`, () => {
        disk.late = true;
        expect(disk.leaveNow(false, asked)).to.equal("nothing");
        expect(harmTo(seen(disk, "nothing"), now("other"))).to.match(/something was written to it/);
      });

    it("is left as it is while somebody may write to it, and may be mounted beside who reads", () => {
      const disk = late("fileSystem", "somebodys");
      disk.users.push({ how: "reads", by: 1 });
      expect(disk.leaveNow(false, labels)).to.equal("mount");
      disk.users.push({ how: "writes", by: 2 });
      expect(disk.leaveNow(false, labels)).to.equal("nothing");
    });

    it("is not emptied, also where people have given it away", () => {
      const disk = late("fileSystem", "somebodys");
      disk.given = disk;
      expect(disk.leaveNow(false, labels)).to.equal("mount");
      expect(disk.leaveNow(false, [])).to.equal("nothing");
    });
  });

  it("may be emptied where it was given away, not elsewhere, and not what was written there since", () => {
    const disk = late("data");
    disk.late = false;
    disk.given = { device: disk.device, changes: disk.changes };
    expect(disk.leaveNow(false, labels)).to.equal("all");
    disk.device = "/dev/another";
    expect(disk.leaveNow(false, labels)).to.equal("nothing");
    disk.device = disk.given.device;
    disk.hasNow("data", []);
    expect(disk.leaveNow(false, labels)).to.equal("nothing");
  });

  it("has no label of its owner's any more once the agent has made a file system there", () => {
    const disk = late("fileSystem", "somebodys");
    note(seen(disk, "all"), now("other"));
    expect([disk.contents, disk.label]).to.deep.equal(["volume", undefined]);
  });
});

function of(name: string) {
  return { name, size: 1 << 24, device: `/dev/${name}`, path: `/tmp/${name}` };
}

function late(contents: "data" | "fileSystem", label?: string): Disk {
  const disk = new Disk(of("disk-0"));
  disk.late = true;
  disk.hasNow(contents, [[4096, 512]], label);
  return disk;
}

/** Its owner has written over it. */
function relabelled(): Disk {
  const disk = late("fileSystem", "somebodys");
  disk.hasNow("data", []);
  return disk;
}

function seen(disk: Disk, leave: Leave): Disk {
  return Object.assign(disk, { leave, seen: now("before") });
}

function now(whole: string) {
  return { whole, parts: ["data"] };
}
