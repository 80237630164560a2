import { expect } from "chai";
import { nodePod, podsOnNode } from "../../../../src/agent/orphans/node-pods.ts";
import type { KubeClient } from "../../../../src/kube/client/client.ts";

const raw = (volumes: object[], annotations = {}) => ({
  metadata: { name: "p", namespace: "team", uid: "u", annotations },
  spec: { volumes },
  status: { phase: "Pending" },
});

describe("nodePod", () => {
  it("takes every volume for one that may be staged but those that never are", () => {
    const volumes = [
      { name: "claim", persistentVolumeClaim: { claimName: "c" } },
      { name: "made", ephemeral: {} },
      { name: "translated", awsElasticBlockStore: {} },
      { name: "unheard-of", somethingNew: {} },
      { name: "nothing" },
      { name: "both", emptyDir: {}, somethingNew: {} },
      ...["emptyDir", "configMap", "secret", "projected", "downwardAPI", "hostPath", "csi"].map((kind) => {
        return { name: `not-${kind.toLowerCase()}`, [kind]: {} };
      }),
    ];
    expect(nodePod(raw(volumes)).claims).to.deep.equal([
      "claim",
      "made",
      "translated",
      "unheard-of",
      "nothing",
      "both",
    ]);
  });

  it("knows whose mirror it is, and what it does not know is no phase", () => {
    expect(nodePod(raw([], { "kubernetes.io/config.mirror": "s" })).mirrorOf).to.equal("s");
    expect(nodePod(raw([], { "kubernetes.io/config.hash": "h" })).mirrorOf).to.equal("h");
    expect(nodePod(raw([]))).to.deep.equal({ uid: "u", name: "team/p", phase: "Pending", claims: [] });
    expect(nodePod({ metadata: { name: "p", uid: "u" } }).phase).to.equal("Unknown");
  });

  it("concludes nothing from a list with a pod that has no UID", async () => {
    const list = async () => ({ items: [{ metadata: { name: "p" } }], resourceVersion: "1" });
    const read = podsOnNode({ list: list as unknown as KubeClient["list"] }, "n");
    expect(await read.catch((error: Error) => error.message)).to.contain("no UID");
  });
});
