import { expect } from "chai";
import { silent } from "../../../../hack/lib/silent-log.ts";
import { Journal } from "../../../../src/agent/journal/journal.ts";
import { formatReap } from "../../../../src/agent/journal/journal-format.ts";
import type { ReapRecord } from "../../../../src/agent/journal/reap-record.ts";
import { asVolumeName } from "../../../../src/agent/model/identities.ts";
import { FakeJournalFile, record } from "./fake-journal-file.ts";

const reap = (path: string): ReapRecord => ({
  path,
  kind: "Staging",
  mountID: 7,
  source: "tmpfs",
  proof: "the pod is gone",
});

describe("what the journal has beside the records, and tells", () => {
  const open = (file: FakeJournalFile, bootID = "b1") => Journal.open(file, bootID, silent);
  const paths = (journal: Journal) => [...journal.reaps.keys()];

  it("the removal of what kubelet has left: goes along when it is opened, which writes it anew, and ends with the removal or a reboot", async () => {
    const file = new FakeJournalFile();
    const journal = await open(file);
    await journal.putReap("/a", reap("/a"));
    await journal.putReap("/b", reap("/b"));
    await open(file);
    const again = await open(file);
    expect(again.reaps.get("/a")).to.deep.equal(reap("/a"));
    expect(paths(again)).to.deep.equal(["/a", "/b"]);
    await again.putReap("/a", undefined);
    expect(paths(await open(file))).to.deep.equal(["/b"]);
    expect(paths(await open(file, "b2"))).to.deep.equal([]);
  });

  it("the end of such a removal as a line of its own", async () => {
    const file = new FakeJournalFile();
    const journal = await open(file);
    await journal.putReap("/a", reap("/a"));
    await file.append(formatReap("/a", undefined));
    expect(paths(await open(file))).to.deep.equal([]);
  });

  it("counts writes that failed", async () => {
    const file = new FakeJournalFile();
    const journal = await open(file);
    file.failNext = true;
    await journal.put(record(asVolumeName("a"))).catch(() => {});
    expect(journal.failures).to.equal(1);
  });
});
