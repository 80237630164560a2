import { expect } from "chai";
import { hasTokensInContext, podIdentity } from "../../../../src/csi/server/pod-identity.ts";
import { RefusedCall } from "../../../../src/csi/server/refused-call.ts";
import { tokensFor } from "../../../lib/fakes/pod-tokens.ts";
import { podUID, publishRequest, type RequestChange } from "./requests.ts";

const key = "csi.storage.k8s.io/serviceAccount.tokens";
const ours = tokensFor(podUID, { vault: "cnry-ours" });
const inContext = (json: string): RequestChange => ({ attributes: { set: "datasets", [key]: json } });
const inSecrets = (json: string): RequestChange => ({ secrets: new Map([[key, json]]) });
const who = (change: RequestChange, trusted = false) => podIdentity(publishRequest(change), { podUID }, trusted);

describe("who a pod is, as kubelet hands it over (behaviour 109)", () => {
  it("is nobody without tokens", () => {
    expect(who({}, true)).to.equal(undefined);
  });

  it("is its account with its tokens, from among the secrets or the volume context", () => {
    for (const identity of [who(inSecrets(ours)), who(inContext(ours), true)]) {
      expect(identity?.serviceAccount).to.equal("default");
      expect(identity?.tokens.reveal()).to.equal(ours);
    }
  });

  it("is not what a pod has written into its attributes, where kubelet writes nothing there", () => {
    expect(who(inContext(ours))).to.equal(undefined);
    const both = { ...inContext(tokensFor(podUID, { vault: "forged" })), ...inSecrets(ours) };
    expect(who(both, true)?.tokens.reveal()).to.equal(ours);
    expect([both, inContext(ours), {}].map((one) => hasTokensInContext(publishRequest(one)))).to.deep.equal([
      false,
      true,
      false,
    ]);
  });

  it("is refused with another pod's tokens, or without its account, in words without them", () => {
    const nobody = { ...inSecrets(ours), attributes: { "csi.storage.k8s.io/serviceAccount.name": "" } };
    for (const change of [inSecrets(tokensFor("another", { vault: "cnry" })), inSecrets("cnry"), nobody]) {
      expect(() => who(change))
        .to.throw(RefusedCall, /^csi\.storage\.k8s\.io\/serviceAccount\.tokens: /)
        .with.property("message")
        .that.does.not.match(/cnry/);
    }
  });
});
