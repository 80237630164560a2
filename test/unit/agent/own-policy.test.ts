import { expect } from "chai";
import { agentPolicyMissing } from "../../../src/agent/own-policy.ts";
import { ApiError } from "../../../src/kube/api-error.ts";
import type { KubeClient } from "../../../src/kube/client.ts";
import { TransportError } from "../../../src/kube/transport.ts";

describe("agentPolicyMissing", () => {
  const asked: unknown[] = [];
  const ask = (answer?: Error) => {
    const create: KubeClient["create"] = async (_, object, options) => {
      asked.push(options);
      if (answer !== undefined) throw answer;
      return object;
    };
    return agentPolicyMissing({ create } as KubeClient);
  };
  const refusal = (status: number, message: string) => new ApiError(status, "Reason", message);

  it("is satisfied with the refusal by the policy alone, and makes nothing", async () => {
    const denied = "leases is forbidden: ValidatingAdmissionPolicy 'nodevolume-agents' with binding 'b' denied request";
    expect(await ask(refusal(403, denied))).to.equal(undefined);
    expect(asked).to.deep.equal([{ dryRun: true }]);
  });

  it("says so where the server would write, or has admitted it and then found one", async () => {
    for (const answer of [undefined, refusal(409, "already exists")]) {
      expect(await ask(answer)).to.contain("does not refuse");
    }
  });

  it("says why where another refuses", async () => {
    const said = await ask(refusal(403, 'User "a" cannot create resource "leases"'));
    expect(said).to.contain("cannot be found out").and.contain("cannot create");
  });

  it("knows nothing where there is no answer, or the token is not taken", async () => {
    for (const answer of [new TransportError("gone"), refusal(503, "later"), refusal(401, "Unauthorized")]) {
      expect(await ask(answer).catch((error: unknown) => error)).to.equal(answer);
    }
  });
});
