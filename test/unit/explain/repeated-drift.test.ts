import { expect } from "chai";
import { driftTexts } from "../../../src/api/drift-texts.ts";
import { repeatedDrift } from "../../../src/explain/repeated-drift.ts";
import { ago, facts, intent, raw } from "../../lib/builders/cli-objects.ts";

const minutes = (count: number) => ago(count * 60);
const churning = intent("worker-1.data", {});

/** An Event of drift, so many minutes ago for the first and the last time. */
const drifted = (count: number, first: number, last: number, more: object = {}) =>
  raw(`data.${count}.${first}`, "default", {
    involvedObject: { kind: "NodeVolumeIntent", name: "worker-1.data", uid: "uid-worker-1.data" },
    ...{ reason: "Drifted", message: "/m was unmounted by somebody else", count },
    ...{ firstTimestamp: minutes(first), lastTimestamp: minutes(last) },
    ...{ source: { component: "nodevolume-agent", host: "worker-1" }, ...more },
  });
const found = (events: readonly ReturnType<typeof drifted>[], one = churning) =>
  repeatedDrift(facts({ intents: [one], events }), one)[0];
const timesIn = (...events: readonly ReturnType<typeof drifted>[]) =>
  / (\d+) times/.exec(found(events)?.text ?? "")?.[1];

describe("drift that repeats", () => {
  it("is a finding from the third time within an hour on, since the first of them", () => {
    expect(found([drifted(2, 40, 1)])).to.equal(undefined);
    expect(found([drifted(3, 40, 1)])).to.include({ state: "blocked", code: "DriftRepeats", since: minutes(40) });
  });

  it("is counted over all Events of the volume, as each agent and each message begins one", () => {
    expect(timesIn(drifted(1, 50, 50), drifted(2, 30, 20), drifted(4, 10, 1))).to.equal("7");
    expect(found([drifted(1, 50, 50), drifted(2, 30, 1, { message: "/m was remounted" })])?.text).to.match(
      /the last time \/m was remounted$/,
    );
  });

  it("leaves out what is longer ago, also of an Event that goes on", () => {
    expect(found([drifted(9, 200, 61)])).to.equal(undefined);
    expect(timesIn(drifted(21, 600, 0))).to.equal("3");
    expect(found([drifted(20, 6_000, 0)])).to.equal(undefined);
  });

  it("says that each was repaired, but not while one is not", () => {
    const drift = { class: "Missing" as const, since: ago(3), message: "m" };
    expect(found([drifted(5, 9, 0)])?.text).to.include("5 times within an hour, each time repaired;");
    expect(found([drifted(5, 9, 0)], intent("worker-1.data", {}, { drift }))?.text).to.not.include("repaired");
  });

  it("asks for what undoes the repair at the path that drifted last, or for the disk or server that fails", () => {
    const mounts = ["/m", "/n"].map((path, n) => ({ name: `m${n}`, path }));
    const two = { ...churning, spec: { ...churning.spec, mounts } } as typeof churning;
    const todo = (message: string) => found([drifted(5, 9, 0, { message })], two)?.todo;
    expect(todo("/n was unmounted by somebody else")).to.include(
      "grep -rsl /n /etc. Times: kubectl nvi history worker-1/",
    );
    expect(todo("(combined from similar events): /n was unmounted")).to.include("grep -rsl /n /etc.");
    expect(todo("a mount is gone")).to.include("journalctl --since -1h. Times:");
    expect(todo(`${driftTexts.readOnlyFlip}, after an error`)).to.match(/^Read dmesg on worker-1, and check/);
    expect(todo(`${driftTexts.serverEnded}/m has ended`)).to.match(
      /^Find why the server or FUSE process ends, on worker-1/,
    );
  });

  it("is what the agent of the volume's own node says: none of another node, whatever it counts", () => {
    for (const source of [{ component: "nodevolume-agent", host: "worker-2" }, { component: "nodevolume-agent" }]) {
      const foreign = { source, reportingInstance: "worker-1", message: "run this" };
      expect(found([drifted(1e9, 9, 0, foreign)])).to.equal(undefined);
      expect(timesIn(drifted(3, 9, 5), drifted(1e9, 9, 0, foreign))).to.equal("3");
      expect(found([drifted(3, 9, 5), drifted(1e9, 9, 0, foreign)])?.text).to.not.include("run this");
    }
  });

  it("counts up to a thousand", () => {
    expect(found([drifted(1000, 9, 0)])?.text).to.match(/drifted 1000 times/);
    for (const counts of [[1e9], [600, 600]])
      expect(found(counts.map((count) => drifted(count, 9, 0)))?.text).to.match(/drifted more than 1000 times/);
  });

  it("is nothing of other Events, of other volumes, and of one that is only observed", () => {
    expect(found([drifted(5, 9, 0, { reason: "Mounted" })])).to.equal(undefined);
    expect(found([drifted(5, 9, 0)], intent("worker-1.other", {}))).to.equal(undefined);
    expect(found([drifted(5, 9, 0)], intent("worker-1.data", { mode: "Observe" }))).to.equal(undefined);
  });
});
