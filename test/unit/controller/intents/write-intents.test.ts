import { expect } from "chai";
import type { IntentWrite } from "../../../../src/controller/intents/diff-intents.ts";
import { writeIntents } from "../../../../src/controller/intents/write-intents.ts";
import type { Intent } from "../../../../src/controller/model/projections.ts";
import { intentNameOf } from "../../../../src/controller/model/volume-identity.ts";
import { ApiError } from "../../../../src/kube/client/api-error.ts";
import type { KubeClient } from "../../../../src/kube/client/client.ts";
import { wanted as intent } from "../../../lib/builders/plan-world.ts";
import { settle, virtualSystem } from "../../kube/virtual-system.ts";

describe("writeIntents", () => {
  const { spec } = intent();
  const create = (name: string): IntentWrite => {
    return { verb: "create", name: intentNameOf(intent({ name })), labels: {}, spec, needsGrant: true };
  };
  const remove = (name: string): IntentWrite => ({ verb: "delete", intent: intent({ name }) as Intent });

  /** A client whose requests are answered when the test says so. */
  function story(writes: readonly IntentWrite[]) {
    const system = virtualSystem();
    const open = new Map<string, { resolve(value: unknown): void; reject(error: unknown): void }>();
    const asked: string[] = [];
    const refusals: string[] = [];
    const ask = (verb: string, name: string) => {
      asked.push(`${verb} ${name}`);
      return new Promise((resolve, reject) => open.set(name, { resolve, reject }));
    };
    // Only what these writes call.
    const client = {
      create: (_of: unknown, { metadata }: Intent) => ask("create", metadata.name),
      get: async () => undefined,
      delete: (_of: unknown, { name }: { name: string }) => ask("delete", name),
    } as unknown as KubeClient;
    const deps = { client, random: system.random, log: system.log, upsert: () => {} };
    const done = writeIntents(deps, writes, (name, refusal) => {
      if (refusal !== undefined) refusals.push(name);
    }).then(
      () => "done",
      (error: unknown) => error,
    );
    const answer = async (...names: string[]) => {
      await settle();
      for (const name of names) open.get(name)?.resolve(undefined);
      await settle();
    };
    const fail = async (name: string, error: Error) => {
      await settle();
      open.get(name)?.reject(error);
      await settle();
    };
    return { asked, refusals, done, answer, fail };
  }

  it("creates four at the same time, and takes away only when all of them are there", async () => {
    const { asked, done, answer } = story([..."abcde"].map(create).concat(remove("x"), remove("y")));
    await answer("b");
    expect(asked).to.deep.equal(["create a", "create b", "create c", "create d", "create e"]);
    await answer("a", "c", "d");
    expect(asked).to.have.length(5);
    await answer("e");
    expect(asked.slice(5), "one by one").to.deep.equal(["delete x"]);
    await answer("x");
    await answer("y");
    expect(await done).to.equal("done");
  });

  it("begins nothing more after an error that is no refusal, and is told of it when all have ended", async () => {
    const { asked, done, answer, fail } = story([..."abcdef"].map(create).concat(remove("x")));
    const error = new Error("connection reset");
    await fail("c", error);
    await answer("a", "b", "d");
    expect(await done).to.equal(error);
    expect(asked).to.have.length(4);
  });

  for (const [first, then] of [
    [new ApiError(429, "TooManyRequests", "later"), new ApiError(504, "Timeout", "who knows")],
    [new ApiError(409, "AlreadyExists", "there"), new ApiError(504, "Timeout", "who knows")],
    [new ApiError(504, "Timeout", "who knows"), new ApiError(429, "TooManyRequests", "later")],
  ] as const) {
    it(`ends with what leaves it open whether it was done: ${first.status}, then ${then.status}`, async () => {
      const { done, answer, fail } = story([..."abcd"].map(create));
      await fail("a", first);
      await fail("b", then);
      await answer("c", "d");
      expect(await done).to.have.property("status", 504);
    });
  }

  it("carries out the others beside one that is refused", async () => {
    const { asked, refusals, done, answer, fail } = story([..."abcde"].map(create));
    const error = new ApiError(422, "Invalid", "no");
    await fail("a", error);
    await answer("b", "c", "d", "e");
    expect(await done).to.equal(error);
    expect(asked).to.have.length(5);
    expect(refusals).to.deep.equal(["a"]);
  });
});
