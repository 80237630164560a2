import { expect } from "chai";
import { createExpectations } from "../../../../src/controller/attach/expectations.ts";
import { writeGrant } from "../../../../src/controller/grants/write-grant.ts";
import { ApiError } from "../../../../src/kube/client/api-error.ts";
import type { KubeClient } from "../../../../src/kube/client/client.ts";
import { RememberingLog } from "../../csi/remembering-log.ts";
import { member } from "../attach/facts-of.ts";

/** Writes a grant to a server that answers with this error. @returns whether the volume counts as granted afterwards */
async function grantingAfter(failure: Error): Promise<boolean> {
  const one = member("n0");
  const expectations = createExpectations();
  const client = {
    get: async () => one.intent,
    mergePatch: () => Promise.reject(failure),
  } as unknown as KubeClient;
  const nothing = () => {};
  const random = { uuid: () => "id" } as never;
  const storage = { csiDrivers: { store: new Map() } } as never;
  const log = new RememberingLog();
  const deps = { client, random, log, expectations, storage, upsertIntent: nothing, upsertAttachment: nothing };
  await writeGrant(deps, one, undefined).catch(nothing);
  return expectations.granting(one.intent);
}

describe("a grant that was sent", () => {
  it("counts as given while it has had no answer, and not if it was refused", async () => {
    expect(await grantingAfter(new Error("the connection broke"))).to.equal(true);
    expect(await grantingAfter(new ApiError(504, "Timeout", "later"))).to.equal(true);
    expect(await grantingAfter(new ApiError(422, "Invalid", "no"))).to.equal(false);
  });

  it("counts until the watch shows it", () => {
    const { intent } = member("n0");
    const pending = createExpectations();
    pending.beginGrant(intent);
    expect(pending.granting(intent)).to.equal(true);
    const { intent: granted } = member("n0", { granted: true });
    expect([pending.granting(granted), pending.granting(intent)]).to.deep.equal([false, false]);
  });
});
