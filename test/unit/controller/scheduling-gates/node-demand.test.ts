import { expect } from "chai";
import {
  allOf,
  demandOfSet,
  type NodeDemand,
  narrow,
  type Term,
  termsIn,
  termsOf,
} from "../../../../src/controller/scheduling-gates/node-demand.ts";
import { node, validSet } from "../objects.ts";

const isIn = (key: string, ...values: string[]) => ({ key, operator: "In" as const, values });
const term = (...matchExpressions: object[]): Term => ({ matchExpressions, matchFields: [] });
const onNode = (name: string): Term => ({ matchExpressions: [], matchFields: [isIn("metadata.name", name)] });
const demand = (terms?: readonly Term[], nodeSelector = {}): NodeDemand => ({ nodeSelector, terms });
const [a, b, gpu] = [isIn("zone", "a"), isIn("zone", "b"), isIn("gpu", "yes")];
const nodes = (name: string) => (name === "n1" ? node("n1", { labels: { zone: "b" } }) : undefined);

describe("demandOfSet", () => {
  it("is its nodeSelector and required affinity", () => {
    const nodeSelectorTerms = [{ matchExpressions: [a] }, { matchExpressions: [b], matchFields: [] }];
    const { spec } = validSet("s", {
      spec: {
        nodeSelector: { disk: "ssd" },
        affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
      },
    });
    expect(demandOfSet(spec)).to.deep.equal(demand([term(a), term(b)], { disk: "ssd" }));
    expect(demandOfSet(validSet("s").spec)).to.deep.equal(demand());
  });

  it("a term without requirements matches no Node, so it is no choice", () => {
    expect(termsOf([{}, { matchExpressions: [a] }])).to.deep.equal([term(a)]);
  });
});

describe("allOf", () => {
  it("is where each of them holds, and says nothing twice", () => {
    expect(allOf([demand([term(a), term(b)]), demand(undefined, { x: "1" }), demand([term(gpu, a)])])).to.deep.equal(
      demand([term(a, gpu), term(b, gpu, a)], { x: "1" }),
    );
    expect(allOf([demand([term(a)]), demand([term(a)])])).to.deep.equal(demand([term(a)]));
    expect(allOf([])).to.deep.equal(demand());
  });

  it("labels that exclude each other, and more terms than anybody reads, cannot be said", () => {
    expect(allOf([demand(undefined, { x: "1" }), demand(undefined, { x: "2" })])).to.deep.equal({
      problem: "one volume is on nodes with x=1 only, another on nodes with x=2",
    });
    const many = Array.from({ length: 9 }, (_, i) => term(isIn("zone", `z${i}`)));
    const others = many.map((_, i) => term(isIn("rack", `r${i}`)));
    expect(allOf([demand(many), demand(others)]))
      .to.have.property("problem")
      .that.includes("81 terms");
  });
});

describe("narrow", () => {
  const cases: [what: string, own: NodeDemand, wanted: NodeDemand, expected: object | string][] = [
    ["nothing to nothing", demand(), demand(), { nodeSelector: {}, terms: undefined }],
    [
      "labels are added",
      demand(undefined, { disk: "ssd" }),
      demand(undefined, { gpu: "yes" }),
      { nodeSelector: { gpu: "yes" }, terms: undefined },
    ],
    [
      "what the pod says already is not said again",
      demand(undefined, { gpu: "yes" }),
      demand(undefined, { gpu: "yes" }),
      { nodeSelector: {}, terms: undefined },
    ],
    [
      "another value is against it",
      demand(undefined, { gpu: "no" }),
      demand(undefined, { gpu: "yes" }),
      "selects nodes with gpu=no",
    ],
    ["no affinity of its own", demand(), demand([term(a), term(b)]), { nodeSelector: {}, terms: [term(a), term(b)] }],
    [
      "each of its terms gets the one of the volume",
      demand([term(gpu), term(b)]),
      demand([term(a)]),
      { nodeSelector: {}, terms: [term(gpu, a), term(b, a)] },
    ],
    [
      "its own terms say enough",
      demand([term(gpu, a), term(b)]),
      demand([term(a), term(b)]),
      { nodeSelector: {}, terms: undefined },
    ],
    ["a choice cannot be added to a choice", demand([term(gpu)]), demand([term(a), term(b)]), "has 2 terms"],
    [
      "a pod of a DaemonSet: its node decides",
      demand([onNode("n1")]),
      demand([term(a), term(b)]),
      { nodeSelector: {}, terms: [{ ...onNode("n1"), matchExpressions: [b] }] },
    ],
    [
      "a pod of a DaemonSet on a node without the volume",
      demand([onNode("n1")]),
      demand([term(a), term(gpu)]),
      "meant for node n1",
    ],
    [
      "a term that matches nothing stays",
      demand(termsIn([{}, { matchExpressions: [gpu] }])),
      demand([term(a)]),
      { nodeSelector: {}, terms: [term(), term(gpu, a)] },
    ],
    [
      "what stands there twice stays, as it was",
      demand([term(gpu, gpu)]),
      demand([term(a)]),
      { nodeSelector: {}, terms: [term(gpu, gpu, a)] },
    ],
  ];
  for (const [what, own, wanted, expected] of cases) {
    it(what, () => {
      const got = narrow(own, wanted, nodes);
      if (typeof expected === "string") expect(got).to.have.property("problem").that.includes(expected);
      else expect(got).to.deep.equal(expected);
    });
  }
});
