import { expect } from "chai";
import { readCRDs, type Schema, schemaOf } from "../../../../hack/lib/crds.ts";
import { matchesSelector } from "../../../../src/api/match-node.ts";
import { sourceTypes } from "../../../../src/api/source-traits.ts";
import type { NodeVolumeSetSpec } from "../../../../src/api/types.gen.ts";
import { selectNode } from "../../../../src/controller/nodes/select-nodes.ts";
import type { NodeOptions } from "../objects.ts";
import { node, validSet } from "../objects.ts";

type Selector = Pick<NodeVolumeSetSpec, "nodeSelector" | "affinity">;
type Term = NonNullable<
  NonNullable<Selector["affinity"]>["nodeAffinity"]
>["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"][number];

const terms = (...nodeSelectorTerms: Term[]): Selector => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
});
const label = (key: string, operator: string, ...values: string[]): Selector =>
  terms({ matchExpressions: [{ key, operator: operator as "In", values }] });

describe("matchesSelector, by the rules of the scheduler", () => {
  const n = node("n1", { labels: { zone: "a", disks: "3", empty: "" } });
  const cases: [string, Selector, boolean][] = [
    ["nothing asked for", {}, true],
    ["nodeSelector that is there", { nodeSelector: { zone: "a" } }, true],
    ["nodeSelector with another value", { nodeSelector: { zone: "b" } }, false],
    ["nodeSelector, one of two", { nodeSelector: { zone: "a", rack: "1" } }, false],
    ["In", label("zone", "In", "b", "a"), true],
    ["In, another value", label("zone", "In", "b"), false],
    ["In, no such label", label("rack", "In", "a"), false],
    ["In, the empty value", label("empty", "In", ""), true],
    ["NotIn", label("zone", "NotIn", "b"), true],
    ["NotIn, that value", label("zone", "NotIn", "a"), false],
    ["NotIn, no such label", label("rack", "NotIn", "a"), true],
    ["Exists", label("empty", "Exists"), true],
    ["Exists, no such label", label("rack", "Exists"), false],
    ["Exists is not fooled by what every object has", label("toString", "Exists"), false],
    ["DoesNotExist", label("rack", "DoesNotExist"), true],
    ["DoesNotExist, but it does", label("zone", "DoesNotExist"), false],
    ["Gt", label("disks", "Gt", "2"), true],
    ["Gt, equal", label("disks", "Gt", "3"), false],
    ["Gt compares numbers", label("disks", "Gt", "-10"), true],
    ["Gt, not a number", label("zone", "Gt", "1"), false],
    ["Gt, no such label", label("rack", "Gt", "1"), false],
    ["Lt", label("disks", "Lt", "10"), true],
    ["Lt, equal", label("disks", "Lt", "3"), false],
    ["matchFields In", terms({ matchFields: [{ key: "metadata.name", operator: "In", values: ["n1"] }] }), true],
    ["matchFields NotIn", terms({ matchFields: [{ key: "metadata.name", operator: "NotIn", values: ["n1"] }] }), false],
    ["an empty term matches nothing", terms({}), false],
    ["one of two terms", terms({}, { matchExpressions: [{ key: "zone", operator: "Exists" }] }), true],
    [
      "all expressions of a term",
      terms({
        matchExpressions: [
          { key: "zone", operator: "Exists" },
          { key: "rack", operator: "Exists" },
        ],
      }),
      false,
    ],
    ["nodeSelector and affinity", { nodeSelector: { zone: "b" }, ...label("zone", "Exists") }, false],
  ];
  for (const [what, selector, expected] of cases) {
    it(what, () => expect(matchesSelector(selector, n)).to.equal(expected));
  }
});

describe("selectNode, as a DaemonSet selects", () => {
  const taint = (effect: string, key = "k", value = "v") => ({ taints: [{ key, value, effect }] });
  const volume = { source: { iscsi: { targetPortal: "san", iqn: "iqn.2026-01.example:d", lun: 0 } } };
  const cases: [string, NodeOptions, object, string][] = [
    ["a plain node", {}, {}, "run"],
    ["a node that is not ready", { ready: false }, {}, "run"],
    ["NoSchedule: what is there stays", taint("NoSchedule"), {}, "keep"],
    ["NoExecute: given back", taint("NoExecute"), {}, "leave"],
    ["PreferNoSchedule means nothing", taint("PreferNoSchedule"), {}, "run"],
    ["Equal", taint("NoExecute"), { tolerations: [{ key: "k", operator: "Equal", value: "v" }] }, "run"],
    ["Equal is the default", taint("NoExecute"), { tolerations: [{ key: "k", value: "v" }] }, "run"],
    ["Equal with another value", taint("NoExecute"), { tolerations: [{ key: "k", value: "w" }] }, "leave"],
    ["Exists", taint("NoExecute"), { tolerations: [{ key: "k", operator: "Exists" }] }, "run"],
    ["Exists of everything", taint("NoExecute"), { tolerations: [{ operator: "Exists" }] }, "run"],
    [
      "the effect named",
      taint("NoExecute"),
      { tolerations: [{ key: "k", operator: "Exists", effect: "NoExecute" }] },
      "run",
    ],
    [
      "another effect",
      taint("NoExecute"),
      { tolerations: [{ key: "k", operator: "Exists", effect: "NoSchedule" }] },
      "leave",
    ],
    ["cordoned", { unschedulable: true, ...taint("NoSchedule", "node.kubernetes.io/unschedulable", "") }, {}, "run"],
    ["cordoned, drainPolicy: Release", { unschedulable: true }, { drainPolicy: "Release" }, "leave"],
    ["cordoned, drainPolicy: Keep", { unschedulable: true }, { drainPolicy: "Keep" }, "run"],
    ["cordoned, a disk that others may wait for", { unschedulable: true }, { volume }, "leave"],
    ["the same with drainPolicy: Release", { unschedulable: true }, { volume, drainPolicy: "Release" }, "leave"],
    ["the same with drainPolicy: Keep", { unschedulable: true }, { volume, drainPolicy: "Keep" }, "run"],
    ["drainPolicy: Release, not cordoned", {}, { volume, drainPolicy: "Release" }, "run"],
    ["not ready yet", taint("NoSchedule", "node.kubernetes.io/not-ready", ""), {}, "run"],
    ["unreachable", taint("NoExecute", "node.kubernetes.io/unreachable", ""), {}, "run"],
    ["out of service", taint("NoExecute", "node.kubernetes.io/out-of-service", "nodeshutdown"), {}, "leave"],
    ["not selected", {}, { nodeSelector: { zone: "a" } }, "leave"],
  ];
  for (const [what, options, spec, expected] of cases) {
    it(what, () => expect(selectNode(validSet("s", { spec }).spec, node("n1", options))).to.equal(expected));
  }

  it("without a drainPolicy, a cordoned node releases the sources that kubectl explain names, and keeps all others", () => {
    const set = readCRDs().get("NodeVolumeSet") as Schema;
    const { spec } = fieldsOf(schemaOf(set));
    const said = String(fieldsOf(spec)["drainPolicy"]?.["description"]);
    const [, named = ""] = /Default: Release for (.*), which another node may wait for/.exec(said) ?? [];
    const released = sourceTypes.filter((type) => {
      const volume = { source: { [type]: {} }, volumeMode: "Filesystem" as const };
      return selectNode({ ...validSet("s").spec, volume }, node("n1", { unschedulable: true })) === "leave";
    });
    expect(named.split(/, | and /)).to.have.members(released);
    expect(released).to.include("persistentVolumeClaim").and.not.include("nfs");
  });
});

function fieldsOf(schema: Schema = {}): { [name: string]: Schema } {
  return (schema["properties"] ?? {}) as { [name: string]: Schema };
}
