import { expect } from "chai";
import { conflicts } from "../../../../src/controller/pods/selinux-conflicts.ts";
import { oneNode } from "../one-node.ts";
import { ours, type PodOptions, pod } from "./pod-objects.ts";
import { forPods, podsIn, refused } from "./pod-worlds.ts";

const labelled = (level: string, more: object = {}) => ({ securityContext: { seLinuxOptions: { level, ...more } } });

/** What is told of pods that share one volume on a node, as "pod message". */
function told(pods: { [name: string]: PodOptions }, settle = false) {
  const world = oneNode([forPods("a", { allowedNamespaces: { names: ["team", "other"], readOnly: false } })]);
  world.pods = Object.entries(pods).map(([name, options], created) => pod(name, { created, ...options }));
  if (settle) world.settle();
  const said = world.plan().notices?.map((one) => `${one.pod.metadata.name} ${one.reason}: ${one.message}`);
  return { world, said };
}

describe("pods that share a volume with other SELinux labels", () => {
  it("have it all the same; the newer ones are told once, whoever it is in already", () => {
    const pods = {
      "team/p": labelled("s0:c1,c2"),
      "team/q": labelled("s0:c3"),
      "team/r": labelled("s0:c1,c2"),
      "team/s": {},
    };
    for (const settle of [false, true]) {
      const { world, said } = told(pods, settle);
      expect(said).to.have.length(2);
      expect(said?.[0]).to.match(
        /^q SELinuxConflict: .* pod p has the SELinux level s0:c1,c2, this one has the SELinux level s0:c3: .*seLinuxOptions\.level into both$/,
      );
      expect(said?.[1]).to.match(
        /^s SELinuxConflict: .* pod p has the SELinux level s0:c1,c2, this one has no SELinux level: /,
      );
      world.settle();
      expect(podsIn(world)).to.have.members(["p v", "q v", "r v", "s v"]);
      expect(refused(world)).to.deep.equal([]);
    }
  });

  it("of another namespace are not named", () => {
    const { said } = told({ "other/secret": labelled("s0:c1"), "team/q": labelled("s0:c2") });
    expect(said).to.have.length(1);
    expect(said?.[0]).to.include("a pod of another namespace has another").and.not.to.include("secret");
    expect(said?.[0]).not.to.include("s0:c1");
  });

  it("are no trouble where all only read, where nobody says a label, and where one pod's containers differ", () => {
    const volumes = [ours({ set: "a", readOnly: "true" })];
    expect(
      told({ "team/p": { ...labelled("s0:c1"), volumes }, "team/q": { ...labelled("s0:c2"), volumes } }).said,
    ).to.deep.equal([]);
    expect(told({ "team/p": { ...labelled("s0:c1"), volumes }, "team/q": labelled("s0:c2") }).said).to.have.length(1);
    expect(told({ "team/p": {}, "team/q": {} }).said).to.deep.equal([]);
    const use = { volumeMounts: [{ name: "v", mountPath: "/x" }] };
    const containers = [
      { name: "a", ...use },
      { name: "b", ...use, ...labelled("s0:c2") },
    ];
    expect(told({ "team/p": labelled(""), "team/q": { containers } }).said).to.deep.equal([]);
  });

  for (const [one, other, is] of [
    [":s0:c1", ":s0:c1", false],
    ["u:s0:c1", ":s0:c1", false],
    ["u:s0:c1", "v:s0:c1", true],
    [":s0:c1", ":s0:c2", true],
    [":s0:c1", "", true],
    ["u:", "", false],
    ["", "", false],
  ] as const) {
    it(`${one || "nothing"} and ${other || "nothing"}: ${is ? "a conflict" : "none"}`, () => {
      expect([conflicts(one, other), conflicts(other, one)]).to.deep.equal([is, is]);
    });
  }
});
