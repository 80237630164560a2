import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { expect } from "chai";
import { refuseForeignMembers } from "../../../../../src/host/linux/mount/filesystem-mount.ts";

/** A tree that is made, not sysfs: places as Linux 6.18 has them. */
describe("the devices that the kernel has mounted a btrfs of", () => {
  let sys: string;
  const places: { readonly [name: string]: string } = {
    sda: "devices/pci0000:00/ata1/host0/target0:0:0/0:0:0:0/block/sda",
    sdb: "devices/pci0000:00/ata2/host1/target1:0:0/1:0:0:0/block/sdb",
    sdc: "devices/platform/host2/session1/target2:0:0/2:0:0:1/block/sdc",
    sdd: "devices/platform/host2/session1/target2:0:0/2:0:0:2/block/sdd",
  };
  const numbers: { readonly [name: string]: string } = { sda: "8:0", sdb: "8:16", sdc: "8:32", sdd: "8:48" };

  beforeEach(() => {
    sys = realpathSync(mkdtempSync(`${tmpdir()}/nvo-btrfs-`));
    mkdirSync(`${sys}/dev/block`, { recursive: true });
    mkdirSync(`${sys}/fs/btrfs/features`, { recursive: true });
    for (const [name, place] of Object.entries(places)) {
      mkdirSync(`${sys}/${place}`, { recursive: true });
      writeFileSync(`${sys}/${place}/dev`, `${numbers[name]}\n`);
      symlinkSync(`${sys}/${place}`, `${sys}/dev/block/${numbers[name]}`);
    }
  });
  afterEach(() => rmSync(sys, { recursive: true }));

  function mounted(uuid: string, ...members: readonly string[]): void {
    const devices = `${sys}/fs/btrfs/${uuid}/devices`;
    mkdirSync(devices, { recursive: true });
    for (const name of members) symlinkSync(`${sys}/${places[name]}`, `${devices}/${name}`);
  }
  /** Why the one on this disk is not taken. */
  function refusal(name: string): string | undefined {
    try {
      refuseForeignMembers(sys, `/dev/${name}`, numbers[name] ?? "");
      return undefined;
    } catch (error) {
      return (error as Error).message.split(":")[0];
    }
  }

  it("is the one that was named, or others of the node beside it", () => {
    mounted("u-1", "sda", "sdb");
    mounted("u-2", "sdc");
    expect([refusal("sda"), refusal("sdb"), refusal("sdc")]).to.deep.equal([undefined, undefined, undefined]);
  });

  it("is refused with one beside it that others may write to", () => {
    mounted("u-1", "sda", "sdb", "sdc");
    mounted("u-2", "sdd");
    expect(refusal("sda")).to.equal("the btrfs on /dev/sda would be mounted with /dev/sdc (attached by iscsi)");
  });

  it("is refused where the kernel has taken another device for it", () => {
    mounted("u-1", "sdc");
    expect(refusal("sda")).to.equal("the btrfs on /dev/sda would be mounted without it, of another device");
  });
});
