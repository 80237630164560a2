import { expect } from "chai";
import { volumeContextFor } from "../../../../../src/agent/executor/csi/pod-info.ts";
import { PodTokens } from "../../../../../src/csi/client/pod-tokens.ts";
import { tokensFor } from "../../../../lib/fakes/pod-tokens.ts";

const forged = {
  "csi.storage.k8s.io/pod.name": "p",
  "csi.storage.k8s.io/pod.namespace": "kube-system",
  "csi.storage.k8s.io/pod.uid": "u",
  "csi.storage.k8s.io/serviceAccount.name": "admin",
};
const tokens = { "csi.storage.k8s.io/serviceAccount.tokens": "{}" };
const own = { pool: "fast", "csi.storage.k8s.io/pv/name": "pv-1" };

function told(attributes: Record<string, string>, podInfoOnMount: boolean) {
  const volumeContext = new Map(Object.entries(attributes));
  return Object.fromEntries(volumeContextFor({ volumeContext, podInfoOnMount, tokensInSecrets: false }));
}

describe("volumeContextFor (kubelet behaviour 105)", () => {
  it("says of a mount of a node only that the volume is no ephemeral one", () => {
    expect(told({ ...own, "csi.storage.k8s.io/ephemeral": "true" }, true)).to.deep.equal({
      ...own,
      "csi.storage.k8s.io/ephemeral": "false",
    });
  });

  it("names no pod and no account, whatever the volume's attributes say", () => {
    expect(told({ ...own, ...forged, ...tokens }, true)).to.deep.equal({
      ...own,
      "csi.storage.k8s.io/ephemeral": "false",
    });
  });

  it("leaves the attributes of a driver that does not ask for it, but for tokens", () => {
    expect(told({ ...own, ...forged, ...tokens }, false)).to.deep.equal({ ...own, ...forged });
  });

  describe("where the driver acts as the pod (behaviour 109)", () => {
    const pod = { uid: "uid-a", volume: "data", namespace: "team", name: "web-0" };
    const json = tokensFor("uid-a", { vault: "one" });
    const identity = { serviceAccount: "builder", tokens: PodTokens.read(json, "uid-a") };
    const acting = (asks: { podInfoOnMount: boolean; tokensInSecrets: boolean }) => {
      const volumeContext = new Map(Object.entries({ ...own, ...forged, ...tokens }));
      return Object.fromEntries(volumeContextFor({ volumeContext, ...asks }, { pod, identity }));
    };

    it("names this pod and its account, and has its tokens as kubelet writes them, instead of any that an attribute says", () => {
      expect(acting({ podInfoOnMount: true, tokensInSecrets: false })).to.deep.equal({
        ...own,
        "csi.storage.k8s.io/ephemeral": "false",
        "csi.storage.k8s.io/pod.name": "web-0",
        "csi.storage.k8s.io/pod.namespace": "team",
        "csi.storage.k8s.io/pod.uid": "uid-a",
        "csi.storage.k8s.io/serviceAccount.name": "builder",
        "csi.storage.k8s.io/serviceAccount.tokens": json,
      });
    });

    it("has the tokens alone, or none where they are among the secrets", () => {
      const told = acting({ podInfoOnMount: false, tokensInSecrets: false });
      expect(told).to.deep.equal({ ...own, ...forged, "csi.storage.k8s.io/serviceAccount.tokens": json });
      expect(acting({ podInfoOnMount: false, tokensInSecrets: true })).to.deep.equal({ ...own, ...forged });
    });
  });
});
