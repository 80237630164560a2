import { expect } from "chai";
import { silent } from "../../../../hack/lib/silent-log.ts";
import { Journal } from "../../../../src/agent/journal/journal.ts";
import { formatJournal, formatPut } from "../../../../src/agent/journal/journal-format.ts";
import { asIntentUID, asMountPath, asVolumeName } from "../../../../src/agent/model/identities.ts";
import type { JournalFile } from "../../../../src/host/ports/host-ports.ts";
import { FakeJournalFile, formatOf, record } from "./fake-journal-file.ts";

describe("Journal", () => {
  const open = (file: JournalFile, bootID = "b1") => Journal.open(file, bootID, silent);

  it("grows its epoch with each start and keeps its records", async () => {
    const file = new FakeJournalFile();
    await (await open(file)).put(record(asVolumeName("a")));
    const again = await open(file);
    expect(again.epoch).to.equal(2);
    expect(again.records.get(asVolumeName("a"))).to.deep.equal(record(asVolumeName("a")));
  });

  it("writes changes that come in one turn, and those that wait for the disk, together as one append", async () => {
    const file = new FakeJournalFile();
    const journal = await open(file);
    const first = Promise.all(["a", "b", "c", "d"].map((name) => journal.put(record(asVolumeName(name)))));
    while (file.appends === 0) await undefined;
    await Promise.all([first, ...["e", "f"].map((name) => journal.put(record(asVolumeName(name))))]);
    expect(file.appends).to.equal(2);
    expect((await open(file)).records.size).to.equal(6);
  });

  it("knows which volumes have a child on record, also when it is opened", async () => {
    const file = new FakeJournalFile();
    const journal = await open(file);
    const child = { pid: 7, startTime: 9 };
    await journal.put({ ...record(asVolumeName("a")), child });
    await journal.put(record(asVolumeName("b")));
    expect([...journal.children]).to.deep.equal([["a", child]]);
    expect([...(await open(file)).children]).to.deep.equal([["a", child]]);
    await journal.put(record(asVolumeName("a")));
    expect([...journal.children]).to.deep.equal([]);
  });

  it("rejects when it cannot write, and loses nothing that is written afterwards", async () => {
    const file = new FakeJournalFile();
    const journal = await open(file);
    file.failNext = true;
    let reason: unknown;
    await journal.put(record(asVolumeName("a"))).catch((error: { reason: string }) => {
      reason = error.reason;
    });
    expect(reason).to.equal("JournalFailed");
    expect(journal.records.has(asVolumeName("a")), "a record that a crash would lose").to.equal(false);
    await journal.put(record(asVolumeName("b")));
    const again = await open(file);
    expect(again.damage).to.equal(undefined);
    expect(again.records.has(asVolumeName("b"))).to.equal(true);
  });

  it("has the record that is on disk after a change of it could not be written", async () => {
    const file = new FakeJournalFile();
    const journal = await open(file);
    await journal.put(record(asVolumeName("a"), 1));
    file.failNext = true;
    const appends = file.appends;
    const fails = journal.put(record(asVolumeName("a"), 2));
    while (file.appends === appends) await undefined;
    const results = await Promise.allSettled([fails, journal.put(record(asVolumeName("a"), 3))]);
    expect(results.map((result) => result.status)).to.deep.equal(["rejected", "fulfilled"]);
    expect(journal.records.get(asVolumeName("a"))?.generation).to.equal(3);
    file.failNext = true;
    const forgotten = await Promise.allSettled([journal.forget(asVolumeName("a"))]);
    expect(forgotten.map((result) => result.status)).to.deep.equal(["rejected"]);
    expect(journal.records.get(asVolumeName("a"))?.generation).to.equal(3);
    await journal.put(record(asVolumeName("b")));
    expect((await open(file)).records.get(asVolumeName("a"))?.generation).to.equal(3);
  });

  for (const [what, damage] of [
    ["a header with one bad byte", (text: string) => text.replace("epoch", "epocH")],
    ["a header that is gone", (text: string) => text.slice(text.indexOf("\n") + 1)],
  ] as const) {
    it(`${what} is no reboot: what was mounted stays on record`, async () => {
      const file = new FakeJournalFile();
      const identity = { device: "8:1", root: "/" };
      const mounted = {
        ...record(asVolumeName("a")),
        stage: { kind: "path", path: "/src", ready: true, options: [], identity },
      } as const;
      await (await open(file)).put(mounted);
      file.text = damage(file.text ?? "");
      expect((await open(file)).records.get(asVolumeName("a"))).to.deep.equal(mounted);
    });
  }

  describe("mayHaveLost", () => {
    const whole = formatJournal({
      bootID: "b1",
      epoch: 1,
      records: new Map([[asVolumeName("a"), record(asVolumeName("a"))]]),
    });
    const before = formatJournal({
      bootID: "b0",
      epoch: 1,
      records: new Map([[asVolumeName("a"), record(asVolumeName("a"))]]),
    });
    const cases: [string, string | undefined, boolean][] = [
      ["the first start", undefined, false],
      ["a whole journal", whole, false],
      ["a line that was cut off", whole + formatPut(record(asVolumeName("b"))).slice(0, -5), false],
      ["a journal that is gone", "", true],
      ["a damaged line", whole.replace("u1", "u2"), true],
      ["a damaged line of the boot before", before.replace("u1", "u2"), false],
      ["a damaged header", whole.replace("epoch", "epocH"), true],
      ["no header", formatPut(record(asVolumeName("a"))), true],
    ];
    for (const [what, text, expected] of cases) {
      it(`${what}: ${expected}, until the next boot, through restarts and when it is written anew`, async () => {
        const file = new FakeJournalFile();
        file.text = text;
        const journal = await open(file);
        expect(journal.mayHaveLost).to.equal(expected);
        for (let i = 0; i < 1100; i++) await journal.put(record(asVolumeName("a"), i));
        expect(file.replaces, "written anew").to.equal(2);
        expect((await open(file)).mayHaveLost).to.equal(expected);
        expect((await open(file, "b2")).mayHaveLost).to.equal(false);
      });
    }
  });

  it("keeps a damaged file as it was before it writes it anew, and says so", async () => {
    const file = new FakeJournalFile();
    await (await open(file)).put(record(asVolumeName("a")));
    const found = (file.text ?? "").replace("u1", "u2");
    file.text = found;
    const again = await open(file);
    expect(again.damage).to.deep.equal({ lines: 1, copy: "damaged-2" });
    expect([...file.copies]).to.deep.equal([["damaged-2", found]]);
    expect((await open(file)).damage, "mended").to.equal(undefined);
  });

  it("is not opened, nor written, if the damaged file cannot be kept", async () => {
    const file = new FakeJournalFile();
    await (await open(file)).put(record(asVolumeName("a")));
    file.text = (file.text ?? "").replace("u1", "u2");
    const [text, written] = [file.text, file.replaces];
    file.keepCopy = async () => {
      throw new Error("ENOSPC");
    };
    const error = await open(file).catch((thrown: unknown) => thrown);
    expect(error).to.include({ reason: "JournalFailed" });
    expect([file.text, file.replaces]).to.deep.equal([text, written]);
  });

  it("says of a newer format that it was written by another agent", async () => {
    const file = new FakeJournalFile();
    file.text = formatOf(2);
    const error = await open(file).catch((thrown: unknown) => thrown);
    expect(error)
      .to.be.an("error")
      .with.property("message")
      .that.matches(/was written by another agent: .*format 2/);
  });

  it("is written anew when most of its lines are old", async () => {
    const file = new FakeJournalFile();
    const journal = await open(file);
    for (let i = 0; i < 1100; i++) await journal.put(record(asVolumeName("a"), i));
    expect(file.replaces).to.equal(2);
    expect((await open(file)).records.get(asVolumeName("a"))?.generation).to.equal(1099);
  });

  it("after a reboot nothing on record is mounted, but data directories, mount points and owners of paths are", async () => {
    const file = new FakeJournalFile();
    const journal = await open(file);
    const identity = { device: "0:9", root: "/" };
    const attributes = {} as never;
    const targets = [
      {
        path: asMountPath("/t"),
        name: "t",
        uid: asIntentUID("u1"),
        kind: "directory" as const,
        made: true,
        identity,
        attributes,
      },
    ];
    const staged = { path: "/s", ready: true, options: [], identity };
    await journal.put({ ...record(asVolumeName("fs")), stage: { ...staged, kind: "filesystem" }, targets });
    const directory = { device: 1, inode: 2 };
    await journal.put({ ...record(asVolumeName("dir")), stage: { ...staged, kind: "directory", directory }, targets });
    const rebooted = await open(file, "b2");
    const nothing = { device: "", root: "" };
    const unmounted = targets.map((target) => ({ ...target, identity: nothing }));
    for (const kind of ["filesystem", "directory"] as const) {
      const found = rebooted.records.get(asVolumeName(kind === "filesystem" ? "fs" : "dir"));
      expect(found?.targets).to.deep.equal(unmounted);
      const inode = kind === "directory" ? { inode: 2 } : {};
      expect(found?.stage).to.deep.equal({ kind, path: "/s", ready: false, options: [], ...inode });
    }
  });
});
