import { expect } from "chai";
import { ApiError } from "../../../src/kube/client/api-error.ts";
import { createKeyedQueue } from "../../../src/kube/keyed-queue.ts";
import { settle, virtualSystem } from "./virtual-system.ts";

describe("createKeyedQueue, after a failure", () => {
  function story(patient: boolean) {
    const system = virtualSystem();
    const started: string[] = [];
    let end: (error?: Error) => void = () => {};
    const run = (key: string) => {
      started.push(key);
      return new Promise<undefined>((resolve, reject) => {
        end = (error) => (error === undefined ? resolve(undefined) : reject(error));
      });
    };
    const queue = createKeyedQueue({ system, name: "test", concurrency: 2, run, patient });
    const finish = async (error?: Error) => {
      end(error);
      await settle();
    };
    return { system, queue, started, finish };
  }

  it("a patient queue lets an add of a key that failed wait for its retry, but after a reset of its backoff", async () => {
    const { system, queue, started, finish } = story(true);
    queue.add("a");
    await settle();
    queue.add("a"); // while it runs
    await finish(new Error("refused"));
    for (let i = 0; i < 10; i += 1) queue.add("a");
    queue.addAfter("a", 1);
    await system.advance(100);
    expect(started).to.deep.equal(["a"]);
    await system.advance(150);
    expect(started, "its retry").to.deep.equal(["a", "a"]);
    await finish(new Error("refused"));
    queue.resetBackoff("a");
    queue.add("a");
    await settle();
    expect(started).to.have.length(3);
    await finish();
    queue.add("a");
    await settle();
    expect(started, "after a success").to.have.length(4);
  });

  it("waits as long as the server asks", async () => {
    const { system, queue, started, finish } = story(false);
    queue.add("a");
    await settle();
    await finish(new ApiError(429, "TooManyRequests", "later", 9_000));
    await system.advance(8_999);
    expect(started).to.have.length(1);
    await system.advance(1);
    expect(started).to.have.length(2);
  });
});
