import { expect } from "chai";
import { createPods } from "../../../../src/controller/cache/pods.ts";
import type { FakeObject } from "../../fake-api-objects.ts";
import { createFakeApiServer } from "../../fake-api-server.ts";
import { virtualSystem } from "../../kube/virtual-system.ts";
import { ours, rawPod } from "../pods/pod-objects.ts";

function story() {
  const system = virtualSystem();
  const api = createFakeApiServer(system.timers);
  const pods = createPods({ system, transport: api, onRestart: () => {} });
  const put = (name: string, options = {}) => {
    const { metadata, ...rest } = rawPod(name, options);
    const known = api.object("pods", name)?.metadata;
    api.apply("pods", { ...rest, metadata: known ?? { name: metadata.name, namespace: "team" } } as FakeObject);
  };
  const on = (node: string) => [...pods.ofNode(node)].map(({ metadata }) => metadata.name).sort();
  const of = (set: string) => [...pods.ofSet(set)].map(({ metadata }) => metadata.name).sort();
  const inside = (namespace: string) => [...pods.ofNamespace(namespace)].map(({ metadata }) => metadata.name).sort();
  return { system, api, pods, put, on, of, inside };
}

describe("createPods, under a virtual clock", () => {
  it("knows the pods of a node and of a set, and forgets those that end, go, or were never theirs", async () => {
    const { system, api, pods, put, on, of, inside } = story();
    put("team/a");
    put("team/b", { volumes: [ours({ set: "b" })] });
    put("team/none", { volumes: [] });
    put("team/unscheduled", { node: "" });
    pods.start();
    await system.advance(10);
    expect([on("n1"), of("a"), of("b")]).to.deep.equal([["a", "b"], ["a", "unscheduled"], ["b"]]);
    expect([inside("team"), inside("other")]).to.deep.equal([["a", "b", "unscheduled"], []]);
    expect(pods.pods.store.size).to.equal(3);
    put("team/unscheduled", { node: "n2" });
    put("team/a", { phase: "Succeeded" });
    await system.advance(10);
    expect([on("n1"), on("n2"), of("a")]).to.deep.equal([["b"], ["unscheduled"], ["unscheduled"]]);
    api.remove("pods", "team/b");
    api.remove("pods", "team/a");
    await system.advance(10);
    expect([on("n1"), of("b"), pods.pods.store.size]).to.deep.equal([[], [], 1]);
    expect(inside("team")).to.deep.equal(["unscheduled"]);
  });

  it("a pod of the same name with another UID is another pod", async () => {
    const { system, api, pods, put } = story();
    put("team/a");
    pods.start();
    await system.advance(10);
    const [before] = [...pods.ofNode("n1")];
    api.remove("pods", "team/a");
    put("team/a");
    await system.advance(10);
    const after = [...pods.ofNode("n1")];
    expect(after).to.have.length(1);
    expect(after[0]?.uid).not.to.equal(before?.uid);
  });

  it("is complete when both were read since this process leads, and not while either cannot be read", async () => {
    const { system, api, pods } = story();
    let told = 0;
    pods.start();
    await system.advance(10);
    expect(pods.complete()).to.equal(false);
    pods.lead(() => (told += 1));
    await system.advance(10);
    expect([pods.complete(), told > 0]).to.deep.equal([true, true]);
    api.fault = ({ path }) => (path.endsWith("/namespaces") ? { status: 403 } : undefined);
    api.breakWatches("expire");
    await system.advance(20_000);
    expect(pods.complete()).to.equal(false);
    api.fault = () => undefined;
    told = 0;
    await system.advance(20_000);
    expect([pods.complete(), told > 0]).to.deep.equal([true, true]);
    pods.follow();
    expect(pods.complete()).to.equal(false);
    pods.stop();
  });
});
