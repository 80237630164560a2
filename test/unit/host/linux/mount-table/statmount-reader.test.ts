import { expect } from "chai";
import type { News } from "../../../../../src/host/linux/mount-table/mount-events.ts";
import { StatmountReader } from "../../../../../src/host/linux/mount-table/statmount-reader.ts";
import { OptionLists } from "../../../../../src/host/mount-table/option-lists.ts";

const nothing: News = { ids: new Set(), other: false, maybeOther: false, overflow: false };
/** What comparing everything takes, in milliseconds. */
const costMs = 5;

/** A reader of a namespace without mounts, where a test says what the kernel tells. */
function opened() {
  let now = 0;
  const fake = {
    news: [] as Partial<News>[],
    texts: 0,
    failText: false,
    failStat: false,
    advance: (ms: number) => {
      now += ms;
    },
  };
  const reader = new StatmountReader({
    clock: { monotonic: () => now },
    calls: {
      statmount() {
        if (fake.failStat) throw new Error("ENOMEM");
        return undefined;
      },
      listmount: () => [],
    },
    announcer: {
      events: undefined,
      take: () => ({ ...nothing, ...fake.news.shift() }),
    },
    mountinfo: {
      read() {
        fake.texts += 1;
        now += costMs;
        if (fake.failText) throw new Error("ENOMEM");
        return Buffer.alloc(0);
      },
    },
    namespace: 0n,
    lists: new OptionLists(),
    close: () => {},
  });
  reader.compare();
  return { reader, fake };
}

describe("StatmountReader", () => {
  it("compares once in 200 times of what it takes, however often options change, and is suspect meanwhile", () => {
    const { reader, fake } = opened();
    fake.advance(200 * costMs);
    fake.news = [{ other: true }];
    reader.read();
    expect([fake.texts, reader.suspect]).to.deep.equal([2, false]);
    for (let i = 0; i < 100; i++) {
      fake.news = [{ other: true }];
      fake.advance(9);
      reader.read();
    }
    expect([fake.texts, reader.suspect]).to.deep.equal([2, true]);
    fake.advance(100);
    reader.read();
    expect([fake.texts, reader.suspect]).to.deep.equal([3, false]);
    fake.advance(10_000);
    reader.read();
    expect(fake.texts).to.equal(3);
  });

  it("compares at once when events were dropped", () => {
    const { reader, fake } = opened();
    fake.news = [{ overflow: true }];
    reader.read();
    expect(fake.texts).to.equal(2);
  });

  it("compares everything at the next read after what was told could not be asked about", () => {
    const { reader, fake } = opened();
    fake.news = [{ ids: new Set([7]) }];
    fake.failStat = true;
    expect(() => reader.read()).to.throw("ENOMEM");
    fake.failStat = false;
    reader.read();
    expect(fake.texts).to.equal(2);
    reader.read();
    expect(fake.texts).to.equal(2);
  });

  it("gives no table until everything could be compared after that failed", () => {
    const { reader, fake } = opened();
    fake.failText = true;
    expect(() => reader.compare()).to.throw("ENOMEM");
    expect(() => reader.read()).to.throw("ENOMEM");
    fake.failText = false;
    expect(reader.read().size).to.equal(0);
  });
});
