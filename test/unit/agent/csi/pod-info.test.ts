import { expect } from "chai";
import { volumeContextFor } from "../../../../src/agent/csi/pod-info.ts";

const forged = {
  "csi.storage.k8s.io/pod.name": "p",
  "csi.storage.k8s.io/pod.namespace": "kube-system",
  "csi.storage.k8s.io/pod.uid": "u",
  "csi.storage.k8s.io/serviceAccount.name": "admin",
};
const tokens = { "csi.storage.k8s.io/serviceAccount.tokens": "{}" };
const own = { pool: "fast", "csi.storage.k8s.io/pv/name": "pv-1" };

function told(attributes: Record<string, string>, podInfoOnMount: boolean) {
  return Object.fromEntries(volumeContextFor({ volumeContext: new Map(Object.entries(attributes)), podInfoOnMount }));
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
});
