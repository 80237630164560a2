import { expect } from "chai";
import { resource } from "../../../../src/api/names.ts";
import type { Intent } from "../../../../src/controller/model/projections.ts";
import type { Attachment } from "../../../../src/controller/model/storage-objects.ts";
import { type ReleaseIntentDeps, releaseIntent } from "../../../../src/controller/reconcilers/release-reconciler.ts";
import { attachment } from "../attach/facts-of.ts";
import { LiveObjects } from "../attach/live-objects.ts";
import { node, rawNode, setEntry, settledStatus } from "../objects.ts";
import { oneNode } from "../one-node.ts";

/** An intent whose release its agent has acknowledged. */
function acknowledged(): Intent {
  const world = oneNode([setEntry("a")]);
  world.settle();
  world.agent();
  world.sets = [setEntry("a", { deleted: true })];
  world.settle();
  const intent = world.intent("share");
  intent.status = settledStatus(intent);
  return intent;
}

describe("releaseIntent", () => {
  const seen = acknowledged();
  const changed = (change: (intent: Intent) => void): Intent => {
    const intent = structuredClone(seen);
    change(intent);
    return intent;
  };

  async function release(live: Intent, found?: Attachment, more: Partial<ReleaseIntentDeps> = {}) {
    const objects = new LiveObjects();
    objects.has(resource.intents, live);
    objects.has(resource.nodes, rawNode(live.spec.nodeName));
    const done: string[] = [];
    const decision = await releaseIntent(
      {
        client: objects.client,
        log: objects.log,
        recorder: { event: () => {} } as unknown as ReleaseIntentDeps["recorder"],
        node: (name) => node(name),
        silence: () => ({ lostForMs: 0, silentForMs: -1 }),
        sawLease: () => done.push("saw the Lease"),
        uidOfSet: () => undefined,
        attachments: {
          read: async () => found,
          remove: async ({ metadata }) => void done.push(`deletes ${metadata.name}`),
          release: async () => void done.push("takes its marks off"),
        },
        ...more,
      },
      seen,
    );
    return { decision, done, written: objects.written };
  }

  it("takes its marks off the claim, and then its own finalizer alone, of that very version", async () => {
    const live = changed(({ metadata }) => metadata.finalizers?.push("example.com/other"));
    const { decision, done, written } = await release(live);
    expect(decision?.release).to.equal(true);
    expect(done).to.deep.equal(["takes its marks off"]);
    expect(written).to.have.length(1);
    expect(written[0]?.patch).to.deep.equal({ metadata: { finalizers: ["example.com/other"] } });
    const { uid, resourceVersion } = live.metadata;
    expect(written[0]?.ref).to.include({ uid, resourceVersion });
  });

  it("decides by the intent as the server has it: one that is in use again is kept", async () => {
    const live = changed(({ status }) => {
      status.inUse = true;
      status.state = "Mounted";
    });
    const { decision, done, written } = await release(live, attachment("n1"));
    expect(decision?.release).to.equal(false);
    expect([done, written]).to.deep.equal([[], []]);
  });

  it("leaves another object of the name alone", async () => {
    const { decision, written } = await release(changed(({ metadata }) => (metadata.uid = "another")));
    expect(decision).to.equal(undefined);
    expect(written).to.deep.equal([]);
  });

  it("keeps the finalizer until the volume is detached", async () => {
    const found = attachment("n1");
    const { decision, done, written } = await release(seen, found);
    expect(decision).to.deep.equal({ release: false, reason: "Unmounting" });
    expect(done).to.deep.equal([`deletes ${found.metadata.name}`]);
    expect(written).to.deep.equal([]);
    const going = await release(seen, attachment("n1", { deleted: true }));
    expect([going.decision?.release, going.done]).to.deep.equal([false, []]);
  });

  it("takes a Lease that was renewed since for the sign of life that it is", async () => {
    const unsaid = changed(({ status }) => {
      status.state = "Mounted";
      status.inUse = true;
      status.agent = { bootID: "the boot before", epoch: 1 };
    });
    const objects = new LiveObjects();
    objects.has(resource.intents, unsaid);
    objects.has(resource.nodes, rawNode(unsaid.spec.nodeName));
    objects.has(resource.leases, { metadata: { name: unsaid.spec.nodeName } });
    let alive = false;
    const deps: Partial<ReleaseIntentDeps> = {
      client: objects.client,
      silence: () => ({ lostForMs: 0, silentForMs: alive ? -1 : 1 }),
      sawLease: () => {
        alive = true;
      },
    };
    const { decision } = await release(unsaid, undefined, deps);
    expect(decision?.release).to.equal(false);
    expect(objects.written).to.deep.equal([]);
  });
});
