import { hash } from "node:crypto";
import { expect } from "chai";
import type { IntentInput } from "../../../../hack/lib/agent-on-kernel/intent.ts";
import { desiredVolume } from "../../../../src/agent/desired/desired-volume.ts";
import { asIntentUID } from "../../../../src/agent/model/identities.ts";
import type { Observation } from "../../../../src/agent/model/plan-input.ts";
import { Planner } from "../../../../src/agent/planner/incremental/incremental-planner.ts";
import { statusOf } from "../../../../src/agent/status/intent-status.ts";
import { summaryOf } from "../../../../src/agent/status/volume-summary.ts";
import type { NodeVolumeIntentStatus } from "../../../../src/api/types.gen.ts";
import { MountTable } from "../../../../src/host/mount-table/mount-table.ts";
import type { MountEntry } from "../../../../src/host/mount-table/mountinfo.ts";
import { entry } from "../../../lib/builders/mount-entries.ts";
import { planned, volume, wanted } from "../../../lib/builders/plan-world.ts";

const kubelet = "/var/lib/kubelet";
const uid = "9b1c0ad4-1111-4222-8333-444455556666";
const other = "0a0a0ad4-1111-4222-8333-444455556666";
const handle = "abc/def";
const disk = { device: "7:0", fsType: "ext4", source: "/dev/loop0" };
const globalmount = entry({
  id: 40,
  point: `${kubelet}/plugins/kubernetes.io/csi/hostpath.csi.k8s.io/${hash("sha256", handle, "hex")}/globalmount`,
  ...disk,
});
const bound = (of = uid, more: Partial<MountEntry> = {}) =>
  entry({ id: 41, point: `${kubelet}/pods/${of}/volumes/kubernetes.io~csi/pv-1/mount`, ...disk, ...more });
const pod = (of = uid) => ({
  uid: of,
  namespace: "team-a",
  name: of === uid ? "web-0" : "web-1",
  volume: "data",
  readOnly: false,
});
const observed = {
  plugin: "kubernetes.io/csi",
  volumeName: "pv-1",
  driver: "hostpath.csi.k8s.io",
  volumeHandle: handle,
  attachRequired: true,
};
const settings = { allowedPrefixes: ["/mnt"], stateDir: "/state", hostRoot: "/", csiDir: "/csi", kubeletDir: kubelet };
const source = { persistentVolumeClaim: { namespace: "team-a", claimName: "data" } };
const intentOf = (more: Partial<IntentInput> = {}) =>
  wanted({ mode: "Observe", source, mounts: [], observed, pods: [pod()], ...more });

interface World {
  readonly intent?: Partial<IntentInput>;
  readonly mounts?: readonly MountEntry[] | "unreadable";
  readonly seen?: Pick<Observation, "at" | "steady" | "kubelet">;
  readonly registered?: boolean;
  readonly attach?: NonNullable<NodeVolumeIntentStatus["attach"]>;
}

function look({ intent = {}, mounts = [], seen, registered, attach }: World) {
  const object = intentOf(intent);
  const input = {
    settings,
    observed: new Map(seen === undefined ? [] : [[volume, { uid: asIntentUID("uid-1"), generation: 1, ...seen }]]),
    ...(registered !== undefined && { registered: () => registered }),
  };
  const plan = planned({ intents: [object], mounts, input });
  const said = { ...object, status: { ...object.status, ...(attach && { attach }) } };
  const status = statusOf(said, plan, { agent: { bootID: "b", epoch: 1 }, now: 0 });
  return { plan, status, pods: status.pods, waiting: status.waiting, standing: summaryOf(plan) };
}

const absentFor = (ms: number, left: readonly string[], steady = true) => ({
  at: 1_000 - ms,
  steady,
  kubelet: { asked: `${uid}~data`, left },
});

describe("a volume that kubelet manages, as the node's table shows it", () => {
  it("is Observing when each pod has it, with mount ids, staging path and device, and in use", () => {
    const { status, standing, pods, waiting } = look({ mounts: [globalmount, bound()] });
    expect(standing).to.include({ state: "Observed", ready: "True", reason: "Observing" });
    expect(pods).to.deep.equal([{ uid, volume: "data", state: "Mounted", mountID: "41" }]);
    expect(status).to.include({
      inUse: true,
      desiredMounts: 1,
      readyMounts: 1,
      stagingPath: globalmount.point,
      devicePath: "/dev/loop0",
    });
    expect(waiting).to.equal(undefined);
    expect(status.conditions?.find(({ type }) => type === "Mounted")?.status).to.equal("True");
  });

  it("names the pod that kubelet has not mounted it for, and whether it is staged", () => {
    const intent = { pods: [pod(), pod(other)] };
    const { pods, waiting, status } = look({ intent, mounts: [globalmount, bound()] });
    expect(pods?.map(({ state }) => state)).to.deep.equal(["Mounted", "Pending"]);
    expect(waiting).to.deep.include({
      reason: "WaitingForKubelet",
      on: { kind: "Pod", namespace: "team-a", name: "web-1" },
    });
    expect(waiting?.message).to.contain("team-a/web-1").and.to.contain("it is staged on the node");
    expect(status).to.include({ desiredMounts: 2, readyMounts: 1 });
    expect(look({}).waiting?.message).to.contain("the node has no mount of it");
    expect(look({}).status.inUse).to.equal(false);
  });

  it("says that its driver is not registered on the node, while a pod waits", () => {
    expect(look({ registered: false }).waiting).to.deep.include({
      reason: "DriverNotRegistered",
      on: { kind: "CSIDriver", name: "hostpath.csi.k8s.io" },
    });
    expect(look({ registered: true }).waiting?.reason).to.equal("WaitingForKubelet");
    expect(look({ registered: false, mounts: [bound()] }).waiting, "nobody waits").to.equal(undefined);
  });

  it("says what the controller knows of the wait, in its words, and only while it waits", () => {
    const attach = { reason: "VolumeHeldElsewhere", message: "node b has it", on: { kind: "Pod", name: "web-9" } };
    const { waiting, status } = look({ attach });
    expect(waiting).to.deep.include({ reason: "VolumeHeldElsewhere", message: "node b has it", on: attach.on });
    expect(status.conditions?.find(({ type }) => type === "Ready")?.reason).to.equal("VolumeHeldElsewhere");
    expect(look({ attach, mounts: [bound()] }).waiting).to.equal(undefined);
  });

  it("looks for nothing while it is not known which volume the claim is", () => {
    const { plan, waiting, pods } = look({ intent: { observed: { plugin: "kubernetes.io/csi", volumeName: "" } } });
    expect(plan.operation).to.equal(undefined);
    expect(plan.actualState.kubelet?.points).to.deep.equal([]);
    expect(waiting?.message).to.contain("which volume it is is not known yet");
    expect(pods?.[0]?.state).to.equal("Pending");
  });

  it("takes no name for more than one part of a path", () => {
    const { plan } = look({ intent: { observed: { ...observed, volumeName: "../../../etc", driver: ".." } } });
    expect(plan.actualState.kubelet?.points).to.deep.equal([]);
  });

  it("a mount point that stays without a mount is drift: somebody unmounted it, and kubelet never looks", () => {
    const left = [`${uid}~data`];
    expect(look({}).plan.operation, "first look").to.deep.equal({ volume, kind: "observe" });
    expect(look({ seen: absentFor(100, left, false) }).status.drift, "a driver may be at it").to.equal(undefined);
    const { status, pods, standing } = look({ seen: absentFor(100, left) });
    expect(status.drift?.class).to.equal("Missing");
    expect(status.drift?.message).to.contain("team-a/web-0").and.to.contain("delete the pod");
    expect(pods?.[0]).to.include({ state: "Absent", drift: "Missing", reason: "Drifted" });
    expect(standing).to.include({ ready: "False", reason: "Drifted" });
    expect(look({ seen: absentFor(100, []) }).status.drift, "kubelet took it down").to.equal(undefined);
    expect(look({ seen: absentFor(100, left), mounts: [bound()] }).status.drift, "mounted since").to.equal(undefined);
  });

  it("looks again after a while, and at once when another pod lacks it", () => {
    expect(look({ seen: absentFor(4_000, [], false) }).plan)
      .to.include({ retryAt: 2_000 })
      .and.not.to.have.property("operation");
    expect(look({ seen: absentFor(5_000, [], false) }).plan.operation?.kind).to.equal("observe");
    expect(look({ seen: absentFor(5_000, []) }).plan, "steady").not.to.have.property("operation");
    const intent = { pods: [pod(), pod(other)] };
    expect(look({ intent, seen: absentFor(100, []) }).plan.operation?.kind).to.equal("observe");
    expect(look({ mounts: [bound()], seen: absentFor(100, []) }).plan.operation?.kind, "is over").to.equal("observe");
    expect(look({ mounts: [bound()] }).plan, "all are there").not.to.have.any.keys("operation", "retryAt");
  });

  it("a file system that the kernel made read-only is told from one that is mounted so", () => {
    const flipped = bound(uid, { superOptions: ["ro"], options: ["rw", "relatime"] });
    expect(look({ mounts: [flipped] }).status.drift?.class).to.equal("ReadOnlyFlip");
    const readOnly = bound(uid, { superOptions: ["ro"], options: ["ro", "relatime"] });
    expect(look({ mounts: [readOnly] }).status.drift).to.equal(undefined);
    const fuse = bound(uid, { superOptions: ["ro"], fsType: "fuse.x" });
    expect(look({ mounts: [fuse] }).status.drift).to.equal(undefined);
  });

  it("says that a mount is stacked, or covered by one above it", () => {
    const second = bound(uid, { id: 42, parent: 41 });
    expect(look({ mounts: [bound(), second] }).pods?.[0]).to.include({
      state: "Mounted",
      drift: "Stacked",
      mountID: "42",
    });
    const above = entry({ id: 43, point: `${kubelet}/pods/${uid}` });
    expect(look({ mounts: [bound(), above] }).pods?.[0]).to.include({ state: "Uncertain", drift: "Stacked" });
  });

  it("of a block volume finds the driver's publish path and kubelet's own bind of it", () => {
    const devices = `${kubelet}/plugins/kubernetes.io/csi/volumeDevices`;
    const device = { device: "0:6", fsType: "devtmpfs", source: "devtmpfs", root: "/loop0" };
    const published = entry({ id: 50, point: `${devices}/publish/pv-1/${uid}`, ...device });
    const map = entry({ id: 51, point: `${devices}/pv-1/dev/${uid}`, ...device });
    const intent = { volumeMode: "Block" as const };
    expect(look({ intent, mounts: [published] }).pods?.[0]?.state).to.equal("Uncertain");
    expect(look({ intent, mounts: [published, map] }).pods?.[0]).to.include({ state: "Mounted", mountID: "51" });
    expect(look({ intent, mounts: [published] }).status.inUse).to.equal(true);
  });

  it("is in use as long as kubelet has a part of it bound, or it is staged, or the table cannot be read", () => {
    const part = entry({ id: 60, point: `${kubelet}/pods/${uid}/volume-subpaths/pv-1/main/0`, ...disk });
    expect(look({ mounts: [part] }).status.inUse).to.equal(true);
    expect(look({ mounts: [globalmount] }).status.inUse).to.equal(true);
    const unreadable = look({ mounts: "unreadable" });
    expect(unreadable.status.inUse).to.equal(true);
    expect(unreadable.waiting?.reason).to.equal("MountTableUnreadable");
    expect(unreadable.plan.operation).to.equal(undefined);
  });

  it("is planned anew when something comes or goes on kubelet's paths, in the node's table where that is another", () => {
    for (const ownNamespace of [false, true]) {
      const planner = new Planner();
      const intent = desiredVolume(intentOf(), "key");
      const root = entry({ id: 1, parent: 0, point: "/", device: "8:1", fsType: "ext4" });
      const agents = new MountTable([root]);
      const at = (node: MountTable) =>
        planner.plan({
          desired: new Map([[volume, intent]]),
          synced: true,
          records: new Map(),
          mayHaveLost: false,
          table: ownNamespace ? agents : node,
          ...(ownNamespace && { nodeTable: node }),
          pendingOperations: new Map(),
          failures: new Map(),
          contents: () => ({ known: true, version: "u/1" }),
          observed: new Map(),
          settings,
          now: 0,
        });
      const before = new MountTable([root]);
      at(before);
      const shown = at(before.replaced([root, bound()]));
      expect(
        shown.volumes.get(volume)?.actualState.kubelet?.pods[0]?.mount?.id,
        `own namespace: ${ownNamespace}`,
      ).to.equal(41);
    }
  });
});
