import { expect } from "chai";
import { decide, decideBody } from "../../src/api-proxy/decide.ts";
import { isInModel } from "../lib/api-proxy/model.ts";
import { all, mutated } from "../lib/api-proxy/mutated-request.ts";
import { type AgentRequest, own } from "../lib/api-proxy/requests.ts";
import { tryAll } from "../lib/mutate/tries.ts";

describe("mutated requests to the API proxy", function () {
  this.timeout(600_000);

  it("the model has all that agents ask", () => {
    for (const request of all) expect(outcome(request), request.target).to.equal("passed");
  });

  it("are refused, or what goes on is what an agent of this node may ask, and nothing beside it", () =>
    tryAll({
      what: "mutated requests",
      usual: 20_000,
      whole: 1_000_000,
      reaches: { refused: 5_000, passed: 500 },
      attempt: (random) => outcome(mutated(random.pick(all), random)),
    }));
});

function outcome(request: AgentRequest): string {
  const call = decide(request, own);
  if ("kind" in call) return "refused";
  let body: string | undefined;
  if (call.rule.body !== undefined) {
    const decided = decideBody(call, request.body ?? "", own);
    if ("kind" in decided) return "refused";
    ({ body } = decided);
  }
  const goesOn = { method: call.method, path: call.path, asUser: call.asUser, body };
  if (!isInModel(goesOn)) throw new Error(`passed on: ${JSON.stringify(goesOn)}`);
  if (request.method !== call.method) throw new Error(`${request.method} became ${call.method}`);
  return "passed";
}
