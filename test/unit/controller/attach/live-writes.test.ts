import { expect } from "chai";
import { resource } from "../../../../src/api/names.ts";
import { createExpectations } from "../../../../src/controller/attach/expectations.ts";
import type { VolumeConsumer } from "../../../../src/controller/attach/volume-facts.ts";
import { attach, detachDangling } from "../../../../src/controller/attach/write-attachment.ts";
import { type GrantWriter, writeGrant } from "../../../../src/controller/grants/write-grant.ts";
import type { Intent } from "../../../../src/controller/model/projections.ts";
import { attachment, id, member } from "./facts-of.ts";
import { LiveObjects } from "./live-objects.ts";

/** A VolumeAttachment as the server has it. */
function raw(node: string, metadata: object = {}) {
  const { metadata: own, attacher, nodeName } = attachment(node);
  const source = { inlineVolumeSpec: { csi: id } };
  return { metadata: { ...own, resourceVersion: "7", ...metadata }, spec: { attacher, nodeName, source } };
}

describe("writes of VolumeAttachments and grants, by what the server has", () => {
  function start(intents: readonly Intent[], attachments: readonly ReturnType<typeof raw>[] = []) {
    const objects = new LiveObjects();
    for (const intent of intents) objects.has(resource.intents, intent);
    for (const one of attachments) objects.has(resource.volumeAttachments, one);
    const deps = {
      client: objects.client,
      log: objects.log,
      random: { next: () => 0.5, uuid: () => "grant-1" },
      expectations: createExpectations(),
      storage: { csiNodes: { store: new Map() }, csiDrivers: { store: new Map() } },
      upsertIntent: () => {},
      upsertAttachment: () => {},
    } as unknown as GrantWriter;
    return { objects, deps };
  }

  /** The intent of a consumer with other metadata or spec, on the server. */
  function live({ intent }: VolumeConsumer, change: { metadata?: object; spec?: object } = {}): Intent {
    const { metadata, spec } = change;
    return { ...intent, metadata: { ...intent.metadata, ...metadata }, spec: { ...intent.spec, ...spec } } as Intent;
  }

  const one = member("n0");
  const refused: [string, { metadata?: object; spec?: object }][] = [
    ["is being deleted", { metadata: { deletionTimestamp: "2024-01-01T00:00:00Z" } }],
    ["is another object of the name", { metadata: { uid: "another" } }],
    ["has a grant", { spec: { grant: { id: "before" } } }],
    ["only observes", { spec: { mode: "Observe" } }],
  ];
  for (const [what, change] of refused) {
    it(`grants nothing to an intent that ${what}, whatever the cache shows`, async () => {
      const { objects, deps } = start([live(one, change)]);
      expect(await writeGrant(deps, one, undefined)).to.equal(undefined);
      expect(objects.written).to.deep.equal([]);
    });
  }

  it("grants though an agent writes at the same moment, to the version that it has read", async () => {
    const { objects, deps } = start([live(one, { metadata: { resourceVersion: "5" } })]);
    objects.conflicts = 2;
    await writeGrant(deps, one, undefined);
    expect(objects.written).to.have.length(3);
    expect(objects.written[2]?.ref).to.include({ uid: "uid-n0", resourceVersion: "5" });
    expect(objects.written[2]?.patch).to.have.nested.property("spec.grant.id", "grant-1");
    expect(deps.expectations.granting(one.intent)).to.equal(true);
  });

  it("grants nothing on an attachment that is being deleted, or is not attached any more", async () => {
    for (const found of [
      { ...raw("n0", { deletionTimestamp: "2024-01-01T00:00:00Z" }), status: { attached: true } },
      { ...raw("n0"), status: { attached: false } },
    ]) {
      const { objects, deps } = start([live(one)], [found]);
      await writeGrant(deps, one, attachment("n0"));
      expect(objects.written.map(({ of }) => of)).to.deep.equal(["volumeattachments"]);
    }
  });

  it("marks for a grant that very version of the attachment which was decided on", async () => {
    const found = { ...raw("n0"), status: { attached: true } };
    const { objects, deps } = start([live(one)], [found]);
    const seen = attachment("n0");
    await writeGrant(deps, one, { ...seen, metadata: { ...seen.metadata, resourceVersion: "6" } });
    expect(objects.written[0]?.ref).to.include({ uid: "u", resourceVersion: "6" });
  });

  it("detaches that very version of what nobody uses", async () => {
    const { objects, deps } = start([], [raw("n0")]);
    await detachDangling(deps, id, attachment("n0"));
    expect(objects.written.map(({ verb }) => verb)).to.deep.equal(["delete"]);
    expect(objects.written[0]?.ref).to.include({ uid: "u", resourceVersion: "7" });
  });

  it("detaches nothing from under an intent that the cache has not, nor another attachment of the name", async () => {
    const used = start([member("n0", { granted: true }).intent], [raw("n0")]);
    await detachDangling(used.deps, id, attachment("n0"));
    expect(used.objects.written).to.deep.equal([]);
    const another = start([], [raw("n0", { uid: "another" })]);
    await detachDangling(another.deps, id, attachment("n0"));
    expect(another.objects.written).to.deep.equal([]);
  });

  it("makes an attachment again under a grant as one that is in use, of what was granted", async () => {
    const held = member("n0", { granted: "attached" });
    const grant = { ...held.intent.spec.grant, persistentVolume: { name: "pv-before", uid: "uid-before" } };
    const { objects, deps } = start([]);
    await attach(deps, id, { ...held, intent: live(held, { spec: { grant } }) });
    const made = objects.written[0]?.patch as ReturnType<typeof raw>;
    expect(made.metadata.annotations).to.include({ "nodevolume.dev/grant": "g" });
    expect(made.spec.source).to.deep.equal({ persistentVolumeName: "pv-before" });
    expect([...deps.expectations.attaching(id)]).to.deep.equal(["n0"]);
  });

  it("remembers nothing of a term before, and no grant of another object of the name", () => {
    const pending = createExpectations();
    pending.beginGrant(one.intent);
    expect(pending.granting(live(one, { metadata: { uid: "another" } }))).to.equal(false);
    expect(pending.granting(one.intent)).to.equal(true);
    pending.beginAttach(id, "n0");
    pending.forget();
    expect([pending.granting(one.intent), [...pending.attaching(id)]]).to.deep.equal([false, []]);
  });
});
