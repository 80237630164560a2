import { expect } from "chai";
import { projectClaim } from "../../../../src/controller/model/storage-objects.ts";
import { observedIntents } from "../../../../src/controller/observe/observed-intents.ts";
import { node } from "../objects.ts";
import { pod } from "../pods/pod-objects.ts";

const nothing = { claim: () => undefined, persistentVolume: () => undefined };
const objects = { ...nothing, storageClass: () => undefined, csiDriver: () => undefined };
const named = (claimName: string, name = "v") => ({ name, persistentVolumeClaim: { claimName } });

describe("observedIntents", () => {
  it("has each pod's volume once: a mirror that says it is another pod would have the whole intent refused", () => {
    const annotations = { "kubernetes.io/config.mirror": "uid-p", "kubernetes.io/config.hash": "uid-p" };
    const pods = [
      pod("team/mirror", { annotations, volumes: [named("data")] }),
      pod("team/p", { created: 9, volumes: [named("data")] }),
      pod("team/q", { created: 5, volumes: [named("data")] }),
    ];
    const [intent] = observedIntents(node("n1"), pods, objects, new Map());
    expect(intent?.spec.pods.map(({ name, uid }) => `${name} ${uid}`)).to.deep.equal(["q uid-q", "p uid-p"]);
  });

  it("counts a generic ephemeral volume only with a claim that its pod controls: two pods may share a name", () => {
    const own = { name: "b-c", ephemeral: {} };
    const pods = [pod("team/a", { volumes: [own] }), pod("team/a-b", { volumes: [{ ...own, name: "c" }] })];
    const users = (owner: object | undefined) => {
      const ownerReferences = owner && [{ kind: "Pod", uid: "uid-other" }, owner];
      const claim = () => projectClaim({ metadata: { name: "a-b-c", namespace: "team", ownerReferences } });
      const intents = observedIntents(node("n1"), pods, { ...objects, claim }, new Map());
      return intents.flatMap(({ spec }) => spec.pods.map(({ name }) => name));
    };
    expect(users({ kind: "Pod", uid: "uid-a-b", controller: true })).to.deep.equal(["a-b"]);
    expect(users({ kind: "Pod", uid: "uid-a-b", controller: false }), "owned, not controlled").to.deep.equal([]);
    expect(users({ kind: "Pod", uid: "uid-of-earlier", controller: true }), "an earlier pod's").to.deep.equal([]);
    expect(users(undefined), "made by hand").to.deep.equal([]);
  });

  it("is of 1024 claims of a node, those of its oldest pods", () => {
    const volumes = (pod: string) => Array.from({ length: 64 }, (_, i) => named(`${pod}-${i}`, `v${i}`));
    const pods = Array.from({ length: 20 }, (_, i) => pod(`team/p${i}`, { created: -i, volumes: volumes(`p${i}`) }));
    const intents = observedIntents(node("n1"), pods, objects, new Map());
    expect(intents.length).to.equal(1024);
    const whose = new Set(intents.flatMap(({ spec }) => spec.pods.map(({ name }) => name)));
    expect([...whose].sort()).to.deep.equal(Array.from({ length: 16 }, (_, i) => `p${i + 4}`).sort());
  });
});
