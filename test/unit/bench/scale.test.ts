import { expect } from "chai";
import { perPod, quantilesOf, requestsBetween, writesIn } from "../../../hack/bench/scale/figures.ts";
import { createCollection } from "../../../hack/bench/scale/generator/collection.ts";
import { claimIn, intentName } from "../../../hack/bench/scale/generator/established.ts";
import { seenBy, selectorOf } from "../../../hack/bench/scale/generator/selectors.ts";
import { namesOf } from "../../../hack/bench/scale/generator/shape.ts";
import { template } from "../../../hack/bench/scale/generator/template.ts";
import { parseOptions, restarted } from "../../../hack/bench/scale/options.ts";

describe("the benchmark of large clusters", () => {
  it("parseOptions has two claims a pod, and says what is wrong", () => {
    const options = parseOptions(["--nodes", "7", "--lives", "3"]);
    if (options === "help") throw new Error("no help was asked for");
    expect(options.shape).to.include({ nodes: 7, podsPerNode: 30, ordinary: 1, ours: 1, spare: 3 + restarted });
    expect(() => parseOptions(["--ours", "2"])).to.throw("--ours takes whole numbers from 0 to 1, not 2");
    expect(() => parseOptions(["--nodes", "many"])).to.throw("--nodes");
    expect(() => parseOptions(["--agents", "watch"])).to.throw("--kwok beside it");
    expect(parseOptions(["--kwok", "--agents", "index"])).to.include({ kwok: true, agents: "index" });
    expect(parseOptions(["--help"])).to.equal("help");
  });

  it("counts what is written between two moments, without Leases, Events and dry runs", () => {
    const before = { "create nodevolumeintents": 5, "get nodes": 1 };
    const after = {
      "create nodevolumeintents": 9,
      "get nodes": 1,
      "update leases": 4,
      "dry-run pods": 2,
      "patch persistentvolumes": 2,
    };
    const between = requestsBetween(before, after);
    expect(between).to.deep.equal({
      "create nodevolumeintents": 4,
      "update leases": 4,
      "dry-run pods": 2,
      "patch persistentvolumes": 2,
    });
    expect(writesIn(between)).to.equal(6);
    expect(perPod(between, 4)).to.include({ "create nodevolumeintents": 1, "dry-run pods": 0.5 });
    expect(quantilesOf([3, 1, 2])).to.deep.equal({ count: 3, p50: 2, p99: 3, max: 3 });
  });

  it("namesOf and intentName lead back to where they came from", () => {
    const names = namesOf({
      nodes: 3,
      podsPerNode: 4,
      podsPerNamespace: 5,
      oneInUses: 2,
      ordinary: 1,
      ours: 1,
      attached: false,
      established: true,
      spare: 2,
    });
    expect(names.claims).to.equal(14);
    expect(names.claimsOf(4)).to.deep.equal([4, 5]);
    expect(names.claimsOf(5)).to.deep.equal([]);
    for (const claim of [4, 5]) {
      expect(names.podOfClaim(claim)).to.equal(4);
      expect(claimIn(intentName(names, claim))).to.equal(claim);
    }
    const all = [0, 1, 2].flatMap((namespace) => [...names.podsOf(names.namespace(namespace))]);
    expect(all.sort((a, b) => a - b)).to.deep.equal([...Array(12).keys()]);
  });

  it("a collection hides what of its base was changed or deleted, and a snapshot shows the moment it was taken", () => {
    let version = 100;
    const next = () => {
      version += 1;
      return version;
    };
    const texts = ["zero", "one", "two"];
    const base = {
      count: 3,
      key: String,
      text: (index: number) => texts[index] ?? "",
      indexOf: (key: string) => (texts[Number(key)] === undefined ? undefined : Number(key)),
    };
    const collection = createCollection(() => version, base);
    const shown = (of = collection.snapshot()) => [...of.objects()].map(({ text }) => text);
    const early = collection.snapshot();
    collection.put("1", "changed", next());
    collection.remove("2", "gone", next());
    collection.put("new", "new", next());
    expect(shown()).to.deep.equal(["zero", "changed", "new"]);
    expect(collection.size).to.equal(3);
    expect(shown(early)).to.deep.equal(texts);
    expect(collection.log.since(100)?.map(({ type }) => type)).to.deep.equal(["MODIFIED", "DELETED", "ADDED"]);
  });

  it("a selector makes of a change what its watch sees", () => {
    const selector = selectorOf("status.phase!=Succeeded,status.phase!=Failed", null);
    const text = (phase: string) => JSON.stringify({ status: { phase } });
    const change = (before: string, after: string) =>
      seenBy(selector, { type: "MODIFIED", resourceVersion: 1, text: text(after), before: text(before) });
    expect(change("Running", "Running")).to.equal("MODIFIED");
    expect(change("Running", "Failed")).to.equal("DELETED");
    expect(change("Failed", "Failed")).to.equal(undefined);
    const labelled = selectorOf(null, "a,b=c");
    expect(labelled?.matches({ metadata: { labels: { a: "", b: "c" } } })).to.equal(true);
    expect(labelled?.matches({ metadata: { labels: { b: "c" } } })).to.equal(false);
  });

  it("template writes what differs, wherever it stands", () => {
    const write = template({ name: "@name@", of: ["@name@-@uid@"] }, ["name", "uid"]);
    expect(JSON.parse(write({ name: "n", uid: "u" }))).to.deep.equal({ name: "n", of: ["n-u"] });
  });
});
