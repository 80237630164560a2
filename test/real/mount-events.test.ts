import { mkdirSync, readFileSync } from "node:fs";
import { expect } from "chai";
import { slow } from "../../hack/lib/lanes/slow.ts";
import { silent } from "../../hack/lib/silent-log.ts";
import { allTiers, LinuxMountTable } from "../../src/host/linux/mount-table/linux-mount-table.ts";
import { parseMountinfo } from "../../src/host/mount-table/mountinfo.ts";
import { realSystem } from "../../src/system.ts";
import { need } from "../lib/asserts/requirements.ts";
import { needTier } from "../lib/kernel/mount-tier.ts";
import { loadKernelCalls, MS } from "../sim/differential/kernel-calls.ts";
import { type Scratch, scratch } from "./scratch.ts";

const deadlineMs = 20_000;

describe("events of the mount table, on the real kernel", () => {
  const calls = loadKernelCalls();
  const opened: LinuxMountTable[] = [];
  let place: Scratch;

  before(function () {
    need(this, "root");
  });
  beforeEach(() => {
    place = scratch();
    mkdirSync(`${place.path}/a`);
  });
  afterEach(() => {
    for (const table of opened.splice(0)) table.close();
    place[Symbol.dispose]();
  });

  function tableIn(tier: (typeof allTiers)[number]): LinuxMountTable {
    const table = new LinuxMountTable("self", realSystem(silent), [tier]);
    opened.push(table);
    return table;
  }

  const ids = () => parseMountinfo(readFileSync("/proc/self/mountinfo", "utf8")).map(({ id }) => id);

  it("a queue that overflowed because nobody read it is made up for by reading everything", async function () {
    this.timeout(120_000);
    await needTier(this, "fanotify");
    const table = tableIn("fanotify");
    const before = await table.read();
    const limit = Number(readFileSync("/proc/sys/fs/fanotify/max_queued_events", "utf8"));
    for (let event = 0; event <= limit; event += 2) {
      calls.mount("tmpfs", `${place.path}/a`, "tmpfs", 0);
      calls.umount(`${place.path}/a`, 0);
    }
    calls.mount("tmpfs", `${place.path}/a`, "tmpfs", 0);
    const after = await table.read();
    expect(table.status()).to.include({ tier: "fanotify", overflows: 1 });
    expect(after.entries.map(({ id }) => id)).to.deep.equal(ids());
    expect(after.changesSince(before)?.map(({ point }) => point)).to.deep.equal([`${place.path}/a`]);
    calls.umount(`${place.path}/a`, 0);
    expect((await table.read()).at(`${place.path}/a`)).to.equal(undefined);
    expect(table.status().overflows).to.equal(1);
  });

  for (const tier of allTiers) {
    const test: typeof slow = tier === "fanotify" ? it : slow;
    test(`${tier}: whatever happens between two wake-ups, the last one comes after it`, async function () {
      this.timeout(120_000);
      await needTier(this, tier);
      const table = tableIn(tier);
      const path = `${place.path}/a`;
      let woken = () => {};
      const cancel = table.watch(() => woken());
      for (let burst = 0; burst < 100; burst++) {
        const mounts = 1 + (burst % 3);
        const wanted = burst % 2 === 0 ? mounts : 0;
        const seen = new Promise<void>((resolve, reject) => {
          const timer = setTimeout(() => reject(new Error(`no wake-up after burst ${burst}`)), deadlineMs);
          woken = () =>
            void table.read().then((now) => {
              if (now.layers(path).length !== wanted) return;
              clearTimeout(timer);
              resolve();
            }, reject);
        });
        for (let at = 0; at < mounts; at++) calls.mount("tmpfs", path, "tmpfs", 0);
        if (burst % 5 === 0) await new Promise((resolve) => setImmediate(resolve));
        if (wanted === 0) for (let at = 0; at < mounts; at++) calls.umount(path, 0);
        await seen;
        for (let at = 0; at < wanted; at++) calls.umount(path, 0);
      }
      cancel();
    });

    slow(`${tier}: options that somebody else changes are told of to who watches, however often`, async function () {
      this.timeout(120_000);
      await needTier(this, tier);
      const table = tableIn(tier);
      const path = `${place.path}/a`;
      calls.mount("tmpfs", path, "tmpfs", 0);
      let look = () => {};
      const cancel = table.watch(() => look());
      await table.read();
      for (let round = 0; round < 3; round++) {
        const wanted = round % 2 === 0 ? "ro" : "rw";
        const seen = new Promise<void>((resolve, reject) => {
          const timer = setTimeout(() => reject(new Error(`${wanted} was not told of`)), deadlineMs);
          look = () =>
            void table.read().then((now) => {
              if (now.at(path)?.options.includes(wanted) !== true) return;
              clearTimeout(timer);
              resolve();
            }, reject);
        });
        calls.mount("", path, "", MS.REMOUNT | MS.BIND | (wanted === "ro" ? MS.RDONLY : 0));
        await seen;
      }
      cancel();
      calls.umount(path, 0);
    });

    it(`${tier}: what was done before read() is in it, and it is the same object if nothing was`, async function () {
      await needTier(this, tier);
      const table = tableIn(tier);
      const path = `${place.path}/a`;
      for (let round = 0; round < 50; round++) {
        calls.mount("tmpfs", path, "tmpfs", 0);
        const mounted = await table.read();
        expect(mounted.at(path)?.options).to.include("rw");
        expect(await table.read()).to.equal(mounted);
        calls.mount("", path, "", MS.REMOUNT | MS.BIND | MS.RDONLY);
        table.recheck(mounted.at(path)?.id ?? 0, "mount"); // as who changes options himself says
        expect((await table.read()).at(path)?.options).to.include("ro");
        calls.umount(path, 0);
        expect((await table.read()).layers(path)).to.deep.equal([]);
      }
    });
  }
});
