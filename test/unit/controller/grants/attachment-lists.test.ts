import { expect } from "chai";
import { silent } from "../../../../hack/lib/silent-log.ts";
import { createAttachmentAnswers } from "../../../../src/controller/grants/attachment-answers.ts";
import { AttachmentLists } from "../../../../src/controller/grants/attachment-lists.ts";
import type { Intent } from "../../../../src/controller/model/projections.ts";
import { volumeIDOf } from "../../../../src/controller/model/volume-key.ts";
import type { KubeClient } from "../../../../src/kube/client/client.ts";

/** A list of all VolumeAttachments that takes two seconds of a clock that nothing else advances. */
class SlowLists {
  now = 0;
  begun = 0;
  fails = false;
  readonly clock = { monotonic: () => this.now };
  readonly client = {
    list: async () => {
      this.begun += 1;
      await Promise.resolve();
      this.now += 2_000;
      if (this.fails) throw new Error("no answer");
      return { items: [] };
    },
  } as unknown as KubeClient;
}

describe("lists of VolumeAttachments", () => {
  it("answer whoever asked before one began, and nobody who asked later", async () => {
    const slow = new SlowLists();
    const ended: number[] = [];
    const lists = new AttachmentLists({ ...slow, onEnd: () => ended.push(slow.now) });
    const first = lists.since(0);
    expect(lists.since(1), "asked while it is under way").to.equal("underWay");
    expect(await first).to.include.keys("byNode");
    expect(ended).to.deep.equal([2_000]);
    expect(lists.since(0), "asked before").to.include.keys("byNode");
    expect(lists.since(1), "asked after it began").to.deep.equal({ tooEarlyMs: 18_000 });
    slow.now += 18_000;
    expect(await lists.since(1)).to.include.keys("byNode");
    expect(slow.begun).to.equal(2);
  });

  it("that fail are told of, and leave the server alone as long", async () => {
    const slow = new SlowLists();
    slow.fails = true;
    let ended = 0;
    const lists = new AttachmentLists({ ...slow, onEnd: () => (ended += 1) });
    const error = await Promise.resolve(lists.since(0)).catch((e: Error) => e.message);
    expect([error, ended]).to.deep.equal(["no answer", 1]);
    expect(lists.since(0)).to.deep.equal({ tooEarlyMs: 18_000 });
  });

  /** Intents of as many nodes, whose agents all ask. */
  function asking(nodes: number) {
    const slow = new SlowLists();
    const intents = new Map<string, Intent>();
    for (let n = 0; n < nodes; n += 1) {
      const intent = {
        metadata: { name: `i${n}`, uid: `u${n}` },
        spec: { nodeName: `n${n}`, mode: "Manage", grant: { id: "g" } },
        status: { observedUID: `u${n}`, attachmentsRequest: "1-1" },
      };
      intents.set(intent.metadata.name, intent as unknown as Intent);
    }
    const due = new Set<string>();
    const answers = createAttachmentAnswers({
      client: {
        ...slow.client,
        get: async (_: object, { name = "" }) => intents.get(name),
        mergePatch: async (_: object, { name = "" }, patch: { spec: { grant: object } }) => {
          const intent = intents.get(name);
          return { ...intent, spec: { ...intent?.spec, grant: { ...intent?.spec.grant, ...patch.spec.grant } } };
        },
      } as unknown as KubeClient,
      clock: slow.clock,
      log: silent,
      intents: {
        get: (name: string) => intents.get(name),
        list: () => [...intents.values()],
        subscribe: () => () => {},
      } as never,
      upsertIntent: (raw) => intents.set((raw as Intent).metadata.name, raw as Intent),
      onDue: (key) => due.add(key),
    });
    answers.all();
    const reconcile = async (key: string) => {
      const id = volumeIDOf(key);
      return id && answers.reconcile(id);
    };
    const isAnswered = () => [...intents.values()].every(({ spec }) => spec.grant?.attachments?.request === "1-1");
    return { slow, due, reconcile, isAnswered };
  }

  it("forget nobody who asks in the moment in which one ends", async () => {
    for (let turns = 0; turns < 20; turns += 1) {
      const { slow, due, reconcile, isAnswered } = asking(2);
      const [first = "", second = ""] = due;
      due.clear();
      const listing = reconcile(first);
      for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
      if ((await reconcile(second)) !== undefined) due.add(second);
      await listing;
      for (const key of due) {
        slow.now += (await reconcile(key)) ?? 0;
        await reconcile(key);
      }
      expect(isAnswered(), `after ${turns} turns`).to.equal(true);
    }
  });

  it("are two for 5,000 nodes that boot at once", async () => {
    const { slow, due, reconcile, isAnswered } = asking(5_000);
    const later = new Map<string, number>(); // when each is due again
    while (due.size + later.size > 0) {
      const keys = [...due].slice(0, 16); // as many as the queue has workers
      for (const key of keys) due.delete(key);
      const run = async (key: string) => {
        const ms = await reconcile(key);
        if (ms !== undefined) later.set(key, slow.now + ms);
      };
      await Promise.all(keys.map(run));
      if (due.size > 0) continue;
      slow.now = Math.max(slow.now, ...later.values());
      for (const key of later.keys()) due.add(key);
      later.clear();
    }
    expect(isAnswered()).to.equal(true);
    expect([slow.begun, slow.now]).to.deep.equal([2, 22_000]);
  });
});
