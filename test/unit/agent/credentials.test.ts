import { expect } from "chai";
import type { PlanInput } from "../../../src/agent/plan-input.ts";
import { mounted, planned, record, staged, stageRecord, volume, wanted } from "../../lib/plan-world.ts";

const secretRef = { namespace: "storage", name: "files" };
const source = { cifs: { server: "nas", share: "a", secretRef } };
const stage = stageRecord({ options: [], contentVersion: "u/1" });
const records = [record({ type: "cifs", stage })];

/** What is planned for a share that is mounted with version 1 of its Secret, in one word. */
function next(version: string, silent: boolean): string | undefined {
  const problem = { reason: "ServerUnreachable", message: "Host is down" } as const;
  const input: Partial<PlanInput> = {
    contents: () => ({ known: true, version }),
    ...(silent && { silent: new Map([[volume, problem]]) }),
  };
  return planned({ intents: [wanted({ source })], records, mounts: [staged, mounted], input }).operation?.kind;
}

describe("a volume that is mounted with a Secret", () => {
  it("waits for the Secret before it is mounted", () => {
    const problem = { reason: "SecretNotFound", message: "no files" } as const;
    const input: Partial<PlanInput> = { contents: () => ({ known: false, problem }) };
    const plan = planned({ intents: [wanted({ source })], input });
    expect([plan.operation, plan.problems.get("")?.reason]).to.deep.equal([undefined, "SecretNotFound"]);
  });

  it("stays while its session goes on, whatever becomes of the Secret", () => {
    expect(next("u/1", false)).to.equal(undefined);
    expect(next("u/2", false)).to.equal(undefined);
  });

  it("stays while the server does not answer, if the Secret is the one that it was mounted with", () => {
    expect(next("u/1", true)).to.equal(undefined);
  });

  it("is replaced when the server has nothing to say to it, and the Secret is another one", () => {
    expect(next("u/2", true)).to.equal("unpublish");
  });
});
