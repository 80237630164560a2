import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmdirSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { need } from "../../lib/asserts/requirements.ts";
import { soonMs, VMWorld } from "../../lib/kernel/agents/vm-world.ts";
import { FlakeyDisk, type Sectors } from "../../lib/kernel/disks/flakey-disk.ts";

const name = "node.disk";
/** Milliseconds in which errors are told: the kernel is asked for them every 15 s. */
const toldMs = 60_000;
const directories = 200;
/** So many of them may have their inodes beside the file system's own. */
const inodesABlock = 16;

describe("a disk of a mounted volume that cannot be read any more", () => {
  let world: VMWorld;
  let disk: FlakeyDisk;

  before(function () {
    need(this, "device-mapper", "loop-devices", "mkfs.ext4", "ext4");
  });
  beforeEach(async () => {
    disk = new FlakeyDisk("nvo-read-errors", 64);
    world = await VMWorld.start();
  });
  afterEach(async () => {
    await using all = new AsyncDisposableStack(); // whatever fails, from the last to the first
    all.defer(() => disk[Symbol.dispose]());
    all.use(world);
    disk.fail();
  });

  async function setUp(mkfs: string, ...options: string[]): Promise<void> {
    execFileSync(mkfs, ["-q", ...options, disk.path]);
    const there = mkdtempSync("/run/nvo-there-");
    execFileSync("mount", [disk.path, there]);
    for (let n = 0; n < directories; n += 1) mkdirSync(`${there}/${n}`);
    execFileSync("umount", [there]);
    rmdirSync(there);
    want();
    await world.agent.inState(name, "Mounted", soonMs);
  }
  /**
   * From now on no inode can be read, but those of the file system itself. A mount reads those of all directories
   * ahead, and drop_caches leaves what the processor's own lists hold, 16 buffers and 15 pages (Linux 6.1): just these.
   * BLKFLSBUF empties the lists first.
   */
  function failInodes(): void {
    execFileSync("sync");
    disk.fail(inodesOf(disk.path));
    writeFileSync("/proc/sys/vm/drop_caches", "3");
    execFileSync("blockdev", ["--flushbufs", disk.path]);
  }
  const want = () => world.agent.want(world.volume(name, { source: { local: { path: disk.path } } }));
  /** Reads each directory. @returns how many could not be */
  function unreadable(): number {
    const fails = (n: number) => {
      try {
        return readdirSync(`${world.agent.target(name)}/${n}`).length > 0;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EIO") throw error;
        return true;
      }
    };
    return Array.from({ length: directories }, (_, n) => n).filter(fails).length;
  }

  it("is told of as ReadError where it is an ext4, whose other files go on, until it was looked through", async () => {
    const { agent } = world;
    await setUp("mkfs.ext4", "-b", "4096", "-E", "lazy_itable_init=0,lazy_journal_init=0");
    const before = world.mountsOf(name);
    failInodes();
    expect(unreadable()).to.be.within(directories - inodesABlock, directories);
    const status = await agent.waitsFor(name, "ReadError", toldMs);
    expect(status.state).to.equal("Degraded");
    expect(status.waiting?.since).to.match(/^\d{4}-/);
    expect(status.waiting?.message)
      .to.contain(disk.path)
      .and.match(/the last one EIO in \w+: the disk cannot be read/);
    expect(status.drift).to.equal(undefined);
    const ready = status.conditions?.find(({ type }) => type === "Ready");
    expect([ready?.status, ready?.reason]).to.deep.equal(["False", "ReadError"]);
    await world.othersGoOn();
    expect(readdirSync(agent.target(name))).to.have.length(directories + 1);
    expect(world.mountsOf(name)).to.deep.equal(before);

    disk.fail();
    expect(unreadable()).to.equal(0);
    agent.revoke(name);
    await agent.inState(name, "Released", soonMs);
    agent.statuses.delete(name);
    want();
    const back = await agent.inState(name, "Mounted", soonMs);
    expect([back.waiting, back.drift]).to.deep.equal([undefined, undefined]);
    expect(unreadable()).to.equal(0);
  });
});

/** All inodes but those of the first block, in which are those of the file system itself: its root, its journal. */
function inodesOf(device: string): Sectors {
  const said = execFileSync("dumpe2fs", [device], { stdio: "pipe", encoding: "utf8" });
  const blocks = [...said.matchAll(/Inode table at (\d+)-(\d+)/g)].map(([, first, last]) => [
    Number(first),
    Number(last),
  ]);
  const first = Math.min(...blocks.map(([from = 0]) => from)) + 1;
  const last = Math.max(...blocks.map(([, to = 0]) => to));
  return [first * 8, (last - first + 1) * 8];
}
