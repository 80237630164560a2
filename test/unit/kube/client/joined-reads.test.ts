import { expect } from "chai";
import { resource } from "../../../../src/api/names.ts";
import type { KubeClient } from "../../../../src/kube/client/client.ts";
import { joinReads } from "../../../../src/kube/client/joined-reads.ts";

describe("joinReads", () => {
  /** A client whose lists answer when they are told to, with their number. */
  function story() {
    const sent: { answer: () => void; fail: () => void }[] = [];
    const list = () => {
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      const resourceVersion = String(sent.length);
      sent.push({ answer: () => resolve({ items: [], resourceVersion }), fail: () => reject(new Error("no answer")) });
      return promise;
    };
    const client = joinReads({ list, get: list } as unknown as KubeClient);
    const ask = (namespace?: string) =>
      client.list(resource.pods, { namespace }).then(
        ({ resourceVersion }) => resourceVersion,
        (error: Error) => error.message,
      );
    const turn = () => new Promise((resolve) => setImmediate(resolve));
    return { sent, client, ask, turn };
  }

  it("never answers by a read that was sent before it was asked for, and sends one for all who came meanwhile", async () => {
    const { sent, ask, turn } = story();
    const first = ask();
    const others = [ask(), ask(), ask()];
    expect(sent).to.have.lengthOf(1);
    sent[0]?.answer();
    expect(await first).to.equal("0");
    await turn();
    expect(sent, "one for the three").to.have.lengthOf(2);
    const late = ask();
    sent[1]?.answer();
    expect(await Promise.all(others)).to.deep.equal(["1", "1", "1"]);
    await turn();
    sent[2]?.answer();
    expect(await late, "it came after the second was sent").to.equal("2");
  });

  it("does not join what is asked of something else", () => {
    const { sent, ask, client } = story();
    void ask("a");
    void ask("b");
    void client.get(resource.pods, { namespace: "a", name: "x" });
    void client.get(resource.pods, { namespace: "a", name: "y" });
    void client.list(resource.pods, { namespace: "a" }, ({ metadata }) => metadata.name);
    void client.list(resource.pods, { namespace: "a" }, ({ metadata }) => metadata.uid);
    expect(sent).to.have.lengthOf(6);
  });

  it("lets who came meanwhile have a read of their own when one fails, and forgets what is over", async () => {
    const { sent, ask, turn } = story();
    const first = ask();
    const second = ask();
    sent[0]?.fail();
    expect(await first).to.equal("no answer");
    await turn();
    sent[1]?.answer();
    expect(await second).to.equal("1");
    await turn();
    const third = ask();
    expect(sent).to.have.lengthOf(3);
    sent[2]?.answer();
    expect(await third).to.equal("2");
  });
});
