import { expect } from "chai";
import { keyOf } from "../../../hack/bench/scale/through-api/seed.ts";
import { resource } from "../../../src/api/names.ts";

describe("where a cluster is put into etcd", () => {
  it("is beneath the plural, and the namespace", () => {
    const of = { namespace: "team-1", name: "data" };
    expect(keyOf(resource.claims, of)).to.equal("/registry/persistentvolumeclaims/team-1/data");
    expect(keyOf(resource.csiNodes, { name: "node-1" })).to.equal("/registry/csinodes/node-1");
  });

  it("is where Kubernetes has always had its Nodes", () => {
    expect(keyOf(resource.nodes, { name: "node-1" })).to.equal("/registry/minions/node-1");
  });

  it("is beneath the group of a custom resource", () => {
    expect(keyOf(resource.intents, { name: "one" })).to.equal("/registry/nodevolume.dev/nodevolumeintents/one");
  });
});
