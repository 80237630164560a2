import { expect } from "chai";
import { projectIntent } from "../../../../src/controller/model/projections.ts";
import type { Found } from "../../../../src/controller/page/details.ts";
import { findVolumes, mostFound, type Search, searchOf } from "../../../../src/controller/page/find.ts";
import { rawIntent, volumes, waitingStatus } from "./world.ts";

const now = Date.parse("2026-11-25T12:00:00Z");
const [datasets, scratch] = volumes;
const results = {
  set: "results",
  type: "csi",
  source: { persistentVolumeClaim: { namespace: "team-a", claimName: "results-claim" } },
};

function intentOf(node: string, volume: typeof datasets, pods: readonly object[] = [], status = {}) {
  const { spec, ...raw } = rawIntent(node, volume, now, status);
  const intent = projectIntent({ ...raw, spec: { ...(spec as object), pods } });
  if (intent === undefined) throw new Error("it is an intent");
  return intent;
}
const web = { uid: "5322240f-db87-11ea", namespace: "shop", name: "web-0", volume: "data" };
const job = { uid: "7a1c", namespace: "lab", name: "train-1", volume: "cache" };
const intents = [
  intentOf("worker-1", datasets, [web]),
  intentOf("worker-2", datasets, [], waitingStatus(now, 9, "SourceNotFound", "x")),
  intentOf("worker-1", scratch, [{ ...web, volume: "tmp" }, job]),
  intentOf("worker-2", results),
];

function found(search: Search, among = intents): Found {
  const steps = findVolumes(among, search);
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
const names = (search: Search) => found(search).volumes.map(({ node, volume }) => `${node}/${volume}`);

describe("findVolumes, by words", () => {
  const rows: readonly [what: string, words: string, volumes: string[]][] = [
    ["a pod", "web-0", ["worker-1/datasets", "worker-1/scratch"]],
    ["a pod with its namespace", "lab/train", ["worker-1/scratch"]],
    ["the uid of a pod", "5322240f", ["worker-1/datasets", "worker-1/scratch"]],
    ["a claim", "results-claim", ["worker-2/results"]],
    ["a claim with its namespace", "team-a/results", ["worker-2/results"]],
    ["a node and a set", "worker-2 datasets", ["worker-2/datasets"]],
    ["a reason, whatever the case", "sourceNOTfound", ["worker-2/datasets"]],
    ["a path on the node", "/mnt/nodevolume/scratch", ["worker-1/scratch"]],
    ["words of which one fits nothing", "worker-2 nothing", []],
  ];
  for (const [what, words, expected] of rows)
    it(`finds ${what}`, () => {
      const search = searchOf(new URLSearchParams({ words }));
      expect(search && names(search).sort()).to.deep.equal(expected);
    });

  it("names the claim, the pods and how it stands", () => {
    expect(found({ words: ["results"] }).volumes).to.deep.equal([
      {
        ...{ name: "worker-2.results-9a8fb0fbcd", volume: "results", node: "worker-2", sets: ["results"] },
        ...{ standing: "ready", reason: "Mounted", claim: "team-a/results-claim", pods: [] },
      },
    ]);
    expect(found({ words: ["train-1"] }).volumes[0]?.pods).to.deep.equal(["shop/web-0", "lab/train-1"]);
  });

  it("lists so many and counts the rest", () => {
    const many = Array.from({ length: mostFound + 7 }, (_, at) => intentOf(`node-${at}`, datasets));
    const { volumes: listed, omitted } = found({ words: ["datasets"] }, many);
    expect([listed.length, omitted]).to.deep.equal([mostFound, 7]);
  });

  it("does not do in one step what grows with the volumes that fit", () => {
    const mostReads = (count: number) => {
      let [reads, most] = [0, 0];
      const intent = intentOf("worker-1", datasets);
      const many = Array.from({ length: count }, (_, at) => {
        const metadata = Object.defineProperty({ ...intent.metadata }, "name", {
          get: () => {
            reads += 1;
            return `node-${(at * 7_919) % count}`;
          },
        });
        return { ...intent, metadata };
      });
      const steps = findVolumes(many, { words: ["datasets"] });
      for (let done: boolean | undefined = false; done !== true; reads = 0) {
        ({ done } = steps.next());
        most = Math.max(most, reads);
      }
      return most;
    };
    expect(mostReads(8_000)).to.be.at.most(2 * mostReads(1_000));
  });
});

describe("findVolumes, by names out of a text", () => {
  it("takes whole names alone, and what fits more of them first", () => {
    expect(names({ names: ["web-0", "tmp"] })).to.deep.equal(["worker-1/scratch", "worker-1/datasets"]);
    expect(names({ names: ["datasets", "web-0"] })).to.deep.equal([
      "worker-1/datasets",
      "worker-2/datasets",
      "worker-1/scratch",
    ]);
    expect(names({ names: ["web", "results-clai", "5322240f"] })).to.deep.equal([]);
  });

  it("leaves out volumes of other nodes where the node is named, and shows the worst first where it is not", () => {
    expect(names({ names: ["datasets", "worker-2"] })).to.deep.equal(["worker-2/datasets"]);
    expect(names({ names: ["datasets"] })).to.deep.equal(["worker-2/datasets", "worker-1/datasets"]);
  });

  it("finds nothing by a node alone, or by the volume's name in a pod that is not named", () => {
    expect(names({ names: ["worker-1", "tmp"] })).to.deep.equal([]);
  });
});

describe("searchOf", () => {
  it("is what the query asks for, in a bounded number of words", () => {
    const of = (query: string) => searchOf(new URLSearchParams(query));
    expect(of("words=+A++b+")).to.deep.equal({ words: ["a", "b"] });
    expect(of("names=a+b")).to.deep.equal({ names: ["a", "b"] });
    for (const query of ["", "words=", "names=+", "q=a"]) expect(of(query), query).to.equal(undefined);
    expect(of(`names=${"a+".repeat(1_000)}`)).to.deep.equal({ names: Array.from({ length: 60 }, () => "a") });
  });
});
