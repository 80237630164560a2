import { expect } from "chai";
import type { IntentInput } from "../../../../hack/lib/agent-on-kernel/intent.ts";
import { asIntentUID, asMountPath, asVolumeName, type IntentUID } from "../../../../src/agent/model/identities.ts";
import type { Observation } from "../../../../src/agent/model/plan-input.ts";
import type { MountEntry } from "../../../../src/host/mount-table/mountinfo.ts";
import { entry } from "../../../lib/builders/mount-entries.ts";
import { planned, prefix, record, targetRecord, volume, type World, wanted } from "../../../lib/builders/plan-world.ts";

const path = asMountPath(`${prefix}/a`);
const deleting = { deleting: true, generation: 2 };
const onRoot = { device: "8:1", fsType: "ext4", source: "/dev/root" };

/** The release of an intent of which there is no record, with one mount on its target. */
function released(
  source: IntentInput["source"],
  mount: Partial<MountEntry>,
  observed?: Omit<Observation, "at" | "uid"> & { uid?: IntentUID },
) {
  const seen = observed ?? { generation: 2 };
  const input = { mayHaveLost: true, observed: new Map([[volume, { at: 1_000, uid: asIntentUID("uid-1"), ...seen }]]) };
  const mounts = [entry({ id: 30, point: path, ...mount })];
  return planned({ intents: [wanted({ source, ...deleting })], mounts, input });
}

describe("the release of a volume without a record", () => {
  const nothing: World = { intents: [wanted(deleting)] };

  it("is acknowledged where nothing is mounted, and not while the mount table cannot be read", () => {
    expect(planned(nothing).phase).to.equal("released");
    const unreadable = planned({ ...nothing, mounts: "unreadable" });
    expect(unreadable.phase).to.equal("tearDown");
    expect(unreadable.problems.volume?.reason).to.equal("MountTableUnreadable");
    expect(unreadable.actualState.inUse).to.equal(true);
    const { stage: _stage, ...empty } = record({ targets: [] });
    const emptied = planned({ ...nothing, records: [empty], mounts: "unreadable" });
    expect([emptied.phase, emptied.actualState.inUse], "an empty record").to.deep.equal(["tearDown", true]);
  });

  it("while no record can be lost, what shows the source is somebody else's, and keeps nothing", () => {
    const mounts = [entry({ id: 30, point: path, device: "0:99", fsType: "nfs4", source: "srv:/x" })];
    const source = { nfs: { server: "srv", path: "/x" } };
    expect(planned({ intents: [wanted({ source })], mounts }).actualState.inUse).to.equal(false);
    const { phase, actualState } = planned({ intents: [wanted({ source, ...deleting })], mounts });
    expect([phase, actualState.inUse]).to.deep.equal(["released", false]);
    const hostPath = { hostPath: { path: "/data/x" } };
    const bind = [entry({ id: 30, point: path, ...onRoot, root: "/data/x" })];
    expect(planned({ intents: [wanted({ source: hostPath, ...deleting })], mounts: bind }).phase).to.equal("released");
    const own = [entry({ id: 30, point: path, device: "0:99", source: "nodevolume-key" })];
    const memory = planned({ intents: [wanted(deleting)], mounts: own });
    expect(memory.operation, "nobody else makes this").to.deep.include({ kind: "adopt" });
  });

  it("knows a disk that was chosen by what is mounted on the volume's own staging path", () => {
    const source = { local: { disk: { serial: "S1", empty: true } } };
    const target = entry({ id: 30, point: path, device: "8:16", fsType: "ext4", source: "/dev/sdb" });
    const staged = { ...target, id: 29, point: "/state/staging/key" };
    const intents = [wanted({ source, fsType: "ext4", ...deleting })];
    const input = { mayHaveLost: true };
    const ours = planned({ intents, mounts: [staged, target], input });
    expect(ours.operation).to.deep.include({ kind: "adopt", path });
    const other = planned({ intents, mounts: [{ ...staged, device: "8:32" }, target], input });
    expect(other.operation).not.to.deep.include({ kind: "adopt" });
  });

  it("looks at a source of the host first, then blocks on what may be a bind of it", () => {
    const source = { hostPath: { path: "/data/x" } };
    const first = released(source, { ...onRoot, root: "/data/x" }, { generation: 1 });
    expect(first.operation).to.deep.equal({ volume, kind: "observe" });
    for (const root of ["/data/x", "/data/renamed", "/data/x//deleted"]) {
      const { phase, operation, problems, actualState } = released(source, { ...onRoot, root });
      expect([phase, operation, actualState.inUse], root).to.deep.equal(["tearDown", undefined, true]);
      expect(problems.targets.get(path)?.message, root)
        .to.contain("Unmount it, and the volume is released")
        .and.contain(`kubectl annotate nvi ${volume} nodevolume.dev/release=`);
    }
  });

  it("looks at the source for itself, whatever an earlier intent of its name has seen", () => {
    const source = { hostPath: { path: "/link" } };
    const identity = { device: "8:17", root: "/x" };
    const mount = { ...onRoot, device: "8:17", root: "/y" };
    const { operation } = released(source, mount, { generation: 2, source: { identity }, uid: asIntentUID("uid-0") });
    expect(operation).to.deep.equal({ volume, kind: "observe" });
  });

  it("knows a source behind a link by the look", () => {
    const source = { hostPath: { path: "/link" } };
    const identity = { device: "8:17", root: "/x" };
    const mount = { ...onRoot, device: "8:17", root: "/x" };
    expect(released(source, mount, { generation: 2, source: { identity } }).phase).to.equal("tearDown");
    expect(released(source, mount, { generation: 2 }).phase, "without the look it is another file system").to.equal(
      "released",
    );
  });

  it("a mount of another file system is foreign, and blocks nothing", () => {
    const hostPath = { hostPath: { path: "/data/x" } };
    expect(released(hostPath, { device: "0:99", fsType: "nfs4", source: "srv:/y" }).phase).to.equal("released");
    const nfs = { nfs: { server: "srv", path: "/x" } };
    expect(released(nfs, { device: "0:99", fsType: "nfs4", source: "srv:/y" }).phase).to.equal("released");
    expect(released(nfs, { device: "0:99", fsType: "nfs4", source: "srv:/x" }).phase).to.equal("tearDown");
    const disk = { local: { path: "/dev/sdb" } };
    const identity = { device: "0:6", root: "/sdb" };
    const seen = { generation: 2, source: { identity, deviceNumber: "8:16" } };
    expect(released(disk, { ...onRoot, device: "8:16" }, seen).phase).to.equal("tearDown");
    expect(released(disk, { ...onRoot, device: "8:32" }, seen).phase).to.equal("released");
  });

  it("takes over what only we make for this volume, to take it down (safety rule 24)", () => {
    const memory = released({ emptyDir: { medium: "Memory" } }, { device: "0:99", source: "nodevolume-key" });
    expect(memory.operation).to.deep.equal({ volume, kind: "adopt", path, mountID: 30 });
    const disk = released({ emptyDir: {} }, { ...onRoot, root: "/state/data/key" });
    expect(disk.operation).to.deep.include({ kind: "adopt", path });
    const other = released({ emptyDir: {} }, { ...onRoot, root: "/state/data/other" });
    expect(other.phase).to.equal("released");
  });

  it("of a CSI volume is written down first, all that may have been done for it: its driver has to undo that", () => {
    const source = { csi: { driver: "a.example", volumeHandle: "v" } };
    const grant = { id: "g", csi: { ...source.csi, accessMode: "ReadWriteOnce" as const } };
    const release = (mayHaveLost: boolean) =>
      planned({ intents: [wanted({ source, grant, ...deleting })], input: { mayHaveLost } });
    expect(release(true).operation).to.deep.equal({ volume, kind: "recover" });
    expect(release(false).phase).to.equal("released");
  });

  it("keeps nothing that another volume has on record, though both show the same source", () => {
    const source = { hostPath: { path: "/data/x" } };
    const identity = { ...onRoot, root: "/data/x" };
    const targets = [targetRecord({ identity, mountID: 30 })];
    const other = record({ name: asVolumeName("node.volume-2"), key: "other", targets });
    const input = {
      mayHaveLost: true,
      observed: new Map([[volume, { at: 1_000, uid: asIntentUID("uid-1"), generation: 2 }]]),
    };
    const mounts = [entry({ id: 30, point: path, ...identity })];
    const intents = [wanted({ source, ...deleting })];
    expect(planned({ intents, records: [other], mounts, input }).phase).to.equal("released");
    expect(planned({ intents, mounts, input }).phase, "of which there is no record").to.equal("tearDown");
  });

  it("Retain: what is there is left to nobody, without a step that would be tried for ever", () => {
    const source = { hostPath: { path: "/data/x" } };
    const intents = [wanted({ source, ...deleting, deletionPolicy: "Retain" })];
    const input = {
      mayHaveLost: true,
      observed: new Map([[volume, { at: 1_000, uid: asIntentUID("uid-1"), generation: 2 }]]),
    };
    const mounts = [entry({ id: 30, point: path, ...onRoot, root: "/data/x" })];
    const { phase, operation } = planned({ intents, mounts, input });
    expect([phase, operation]).to.deep.equal(["retained", undefined]);
  });

  it("an observed volume has mounted nothing: what is there does not keep it", () => {
    const intents = [wanted({ mode: "Observe", source: { hostPath: { path: "/data/x" } }, ...deleting })];
    expect(planned({ intents, mounts: [entry({ id: 30, point: path, ...onRoot, root: "/data/x" })] }).phase).to.equal(
      "released",
    );
  });

  it("a record that has no such target says that the mount there is not ours", () => {
    const { stage: _stage, ...empty } = record({ targets: [] });
    const mounts = [entry({ id: 30, point: path, ...onRoot, root: "/data/x" })];
    const intents = [wanted({ source: { hostPath: { path: "/data/x" } }, ...deleting })];
    expect(planned({ intents, records: [empty], mounts, input: { mayHaveLost: true } }).phase).to.equal("released");
  });
});
