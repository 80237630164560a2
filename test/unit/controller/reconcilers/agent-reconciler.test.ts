import { expect } from "chai";
import type { Condition } from "../../../../src/api/types.gen.ts";
import { lostStatePatch } from "../../../../src/controller/agents/agent-lost.ts";
import type { Intent, StateEntry } from "../../../../src/controller/model/projections.ts";
import { type ReconcileAgentDeps, reconcileAgent } from "../../../../src/controller/reconcilers/agent-reconciler.ts";
import { ApiError } from "../../../../src/kube/client/api-error.ts";
import { virtualSystem } from "../../kube/virtual-system.ts";
import { condition } from "../objects.ts";

const lost = { life: { state: "lost" as const, expiredForMs: 1 }, nodeExists: true };

function story(answer: (name: string) => ApiError | undefined) {
  const { clock, log } = virtualSystem();
  const written: string[] = [];
  const told: string[] = [];
  const named = (name: string) => ({ metadata: { name, uid: name, resourceVersion: "1" }, spec: {}, status: {} });
  const deps = {
    clock,
    log,
    client: {
      mergePatchStatus: async (_: object, { name }: { name: string }) => {
        const error = answer(name);
        if (error !== undefined) throw error;
        written.push(name);
      },
    },
    gatherer: { complete: () => true, intentsOf: () => ["i0", "i1", "i2"].map(named) as unknown as Intent[] },
    leases: { of: () => lost.life },
    hasNode: () => true,
    upsert: () => {},
    state: () => named("n1") as unknown as StateEntry,
    upsertState: () => {},
    reportedLost: new Set(),
    agentEvents: { lost: (node: string) => told.push(node) },
  } as unknown as ReconcileAgentDeps;
  return { written, told, run: () => reconcileAgent(deps, "n1") };
}

describe("reconcileAgent", () => {
  it("says that an agent is silent of all its volumes but the one that the API server refuses, and tries that again", async () => {
    const refusal = new ApiError(422, "Invalid", "status.conditions: Too many: 17");
    const { written, told, run } = story((name) => (name === "i1" ? refusal : undefined));
    const error = await run().then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).to.equal(refusal);
    expect([written, told]).to.deep.equal([["i0", "i2", "n1"], ["n1"]]);
  });

  it("begins with no other one while the API server does not answer", async () => {
    const { written, told, run } = story(() => new ApiError(503, "ServiceUnavailable", "not ready"));
    await run().catch(() => {});
    expect([written, told]).to.deep.equal([[], []]);
  });
});

describe("lostStatePatch", () => {
  it("takes away nothing that the policy of acknowledgements keeps, whatever the node has written", () => {
    const conditions = ["Ready", "Stalled", "Invented"].map((type) => condition(type, "True", "Said")) as Condition[];
    const patch = lostStatePatch({ metadata: { name: "n1" }, status: { conditions }, index: "" }, lost, false, 0);
    expect(patch?.conditions.map(({ type, status }) => `${type}=${status}`)).to.deep.equal([
      ...["Ready=Unknown", "Drained=Unknown", "Invented=True"],
    ]);
  });
});
