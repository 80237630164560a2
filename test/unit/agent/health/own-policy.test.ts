import { expect } from "chai";
import { probeAgentsPolicy } from "../../../../src/agent/health/own-policy.ts";
import { policyProbe } from "../../../../src/api/names.ts";
import { ApiError } from "../../../../src/kube/client/api-error.ts";
import type { KubeClient } from "../../../../src/kube/client/client.ts";
import { TransportError } from "../../../../src/kube/client/transport.ts";
import { shipped } from "../../shipped-policies.ts";

describe("probeAgentsPolicy", () => {
  const asked: unknown[] = [];
  const ask = (answer?: Error) => {
    const create: KubeClient["create"] = async (_, object, options) => {
      asked.push(options);
      if (answer !== undefined) throw answer;
      return object;
    };
    return probeAgentsPolicy({ create } as KubeClient);
  };
  const refusal = (status: number, message: string) => new ApiError(status, "Reason", message);

  it("is satisfied with the refusal by the policy alone, and makes nothing", async () => {
    const denied = "leases is forbidden: ValidatingAdmissionPolicy 'nodevolume-agents' with binding 'b' denied request";
    expect(await ask(refusal(403, denied))).to.equal(undefined);
    expect(asked).to.deep.equal([{ dryRun: true }]);
  });

  it("says so where the server would write, or has admitted it and then found one", async () => {
    for (const answer of [undefined, refusal(409, "already exists")]) {
      const found = await ask(answer);
      expect(found?.message).to.contain("does not refuse");
      expect(found?.gone).to.equal(true);
    }
  });

  it("says why where another refuses, and that is no reason to be unready", async () => {
    const others = ['User "a" cannot create resource "leases"', 'admission webhook "w" denied the request'];
    for (const [at, message] of others.entries()) {
      const found = await ask(refusal([403, 400][at] ?? 0, message));
      expect(found?.message).to.contain("it is unknown whether the policy").and.contain(message);
      expect(found?.gone).to.equal(false);
    }
  });

  it("knows nothing where there is no answer, or the token is not taken", async () => {
    for (const answer of [new TransportError("gone"), refusal(503, "later"), refusal(401, "Unauthorized")]) {
      expect(await ask(answer).catch((error: unknown) => error)).to.equal(answer);
    }
  });

  it("asks for what only the rule of the own node refuses: no rule names it", () => {
    const { spec } = shipped("ValidatingAdmissionPolicy", "nodevolume-agents");
    expect(JSON.stringify(spec)).to.contain("nodevolume-controller").and.not.to.contain(policyProbe);
  });
});
