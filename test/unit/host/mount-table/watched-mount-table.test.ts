import { expect } from "chai";
import { kept } from "./fake-mount-reader.ts";

describe("WatchedMountTable", () => {
  it("takes the best way that can be had, and says in the log which, and why not the others", async () => {
    const { table, system } = kept({ missing: ["fanotify"] });
    await table.read();
    expect(table.status().tier).to.equal("mountinfo");
    expect(system.lines.map(({ meta }) => meta)).to.deep.equal([
      { table: "self", tier: "fanotify", error: "ENOSYS" },
      { table: "self", tier: "mountinfo" },
    ]);
  });

  it("goes on in another way when one fails, and is unreadable only when the last does", async () => {
    const { table, reader, readers } = kept();
    await table.read();
    reader().failing = true;
    await table.read();
    expect(table.status().tier).to.equal("mountinfo");
    expect(readers[0]?.closed).to.equal(true);
    reader().failing = true;
    const error = await table.read().catch((thrown: unknown) => thrown);
    expect(error).to.include({ reason: "MountTableUnreadable", errorClass: "transient" });
    reader().failing = false;
    await table.read();
    expect(table.status().tier).to.equal("mountinfo");
  });

  it("gives up a way that does not tell what mountinfo tells", async () => {
    const { table, reader } = kept();
    await table.read();
    reader().wrong = ["/odd"];
    table.resync();
    expect(table.status().tier).to.equal("mountinfo");
  });

  it("keeps a way that was wrong once, or in another way the second time", async () => {
    const { table, reader } = kept();
    await table.read();
    reader().wrongOnce = [["/odd has root /a, not /b"], []];
    table.resync();
    reader().wrongOnce = [["/odd has root /a, not /b"], ["/odd has root /b, not /a"]];
    table.resync();
    expect(table.status()).to.include({ tier: "fanotify", demotions: 0 });
  });

  it("warns and counts when a way that worked is left, and wakes by the next one, spaced as that one needs it", async () => {
    const { table, system, reader, wakes, wake } = kept({ tiers: ["fanotify", "mountinfo"] });
    let woken = 0;
    table.watch(() => woken++);
    reader().failing = true;
    await table.read();
    expect(table.status()).to.include({ tier: "mountinfo", demotions: 1 });
    expect(system.lines.filter(({ level }) => level === "warn").map(({ meta }) => meta)).to.deep.equal([
      { table: "self", tier: "fanotify", error: "EIO" },
    ]);
    expect(wakes.map(({ reader: { tier }, cancelled }) => [tier, cancelled])).to.deep.equal([
      ["fanotify", true],
      ["mountinfo", false],
    ]);
    for (let i = 0; i < 1_000; i++) wake();
    expect(woken).to.equal(1);
  });

  it("goes back to the best way that can be had after 45 to 90 minutes, and goes on as it was until then", async () => {
    const { table, system, reader, readers, wakes, missing } = kept();
    table.watch(() => {});
    reader().failing = true;
    await table.read();
    missing.add("fanotify");
    expect(table.status()).to.include({ tier: "mountinfo", demotions: 1 });
    await system.advance(44 * 60_000);
    expect(table.status().tier).to.equal("mountinfo");
    await system.advance(46 * 60_000);
    expect(table.status()).to.include({ tier: "mountinfo", demotions: 1 });
    expect(readers.map(({ closed }) => closed)).to.deep.equal([true, false]);
    expect(wakes.at(-1)?.reader).to.equal(reader());
    missing.delete("fanotify");
    await system.advance(91 * 60_000);
    expect(table.status().tier).to.equal("fanotify");
    expect(wakes.filter(({ cancelled }) => !cancelled).map(({ reader: { tier } }) => tier)).to.deep.equal(["fanotify"]);
  });

  it("compares everything every 30 to 60 seconds while it is watched, and counts what nobody had told", async () => {
    const { table, system, reader } = kept();
    let woken = 0;
    await table.read();
    await system.advance(120_000);
    expect(reader().compared).to.equal(0);
    const cancel = table.watch(() => woken++);
    await system.advance(45_000);
    expect(table.status()).to.include({ resyncs: 1, unannounced: 0 });
    expect(woken).to.equal(0);
    reader().mount(2);
    await system.advance(45_000);
    expect(woken).to.equal(1);
    expect(table.status()).to.include({ resyncs: 2, unannounced: 1 });
    expect(system.lines.at(-1)?.meta).to.deep.equal({ table: "self", mounts: "/2", count: 1 });
    expect((await table.read()).at("/2")?.id).to.equal(2);
    cancel();
    expect(system.pendingTimers).to.equal(0);
  });

  it("compares soon when options may have changed unseen, and does not count that", async () => {
    const { table, system, reader } = kept();
    let woken = 0;
    table.watch(() => woken++);
    reader().suspect = true;
    reader().mount(2);
    await table.read();
    await table.read();
    await system.advance(999);
    expect(reader().compared).to.equal(0);
    await system.advance(1);
    expect(reader().compared).to.equal(1);
    expect(woken).to.equal(1);
    expect(table.status()).to.include({ resyncs: 0, unannounced: 0 });
  });

  it("where each wake-up makes somebody read the text, wakes at once and then every 50 ms at most", async () => {
    const { table, system, wake } = kept({ tiers: ["mountinfo"] });
    let woken = 0;
    table.watch(() => woken++);
    for (let i = 0; i < 10; i++) wake();
    expect(woken).to.equal(1);
    await system.advance(49);
    expect(woken).to.equal(1);
    await system.advance(1);
    expect(woken).to.equal(2);
    await system.advance(500);
    expect(woken).to.equal(2);
    wake();
    expect(woken).to.equal(3);
  });

  it("wakes each time where a wake-up costs next to nothing", () => {
    const { table, wake } = kept();
    let woken = 0;
    table.watch(() => woken++);
    for (let i = 0; i < 10; i++) wake();
    expect(woken).to.equal(10);
  });

  it("tells the table of another namespace that options changed, and compares when it is told so", async () => {
    let told = 0;
    const { table, reader } = kept({ onOptions: () => told++ });
    let woken = 0;
    table.watch(() => woken++);
    await table.read();
    expect(told).to.equal(0);
    reader().optionChanges += 1;
    await table.read();
    await table.read();
    expect(told).to.equal(1);
    table.compareNext();
    expect(woken).to.equal(1);
    await table.read();
    await table.read();
    expect(reader().compared).to.equal(1);
  });

  it("adds up overflows of all ways that it was kept in", async () => {
    const { table, reader } = kept();
    await table.read();
    reader().overflows = 2;
    reader().failing = true;
    await table.read();
    reader().overflows = 1;
    expect(table.status().overflows).to.equal(3);
  });

  it("close() lets go of everything", async () => {
    const { table, system, reader } = kept();
    table.watch(() => {});
    table.close();
    expect(reader().closed).to.equal(true);
    expect(system.pendingTimers).to.equal(0);
  });
});
