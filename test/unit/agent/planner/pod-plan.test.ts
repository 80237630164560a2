import { expect } from "chai";
import type { PlanInput } from "../../../../src/agent/model/plan-input.ts";
import { afterReboot } from "../../../../src/agent/model/volume-record.ts";
import { podStatuses } from "../../../../src/agent/status/pod-status.ts";
import { summaryOf } from "../../../../src/agent/status/volume-summary.ts";
import type { NodeVolumeIntent } from "../../../../src/api/types.gen.ts";
import { entry } from "../../../lib/builders/mount-entries.ts";
import { mounted, planned, prefix, record, staged, targetRecord, volume } from "../../../lib/builders/plan-world.ts";
import { bound, desired, pathOf, podRecord, settings, withPodsOf } from "../pods/pod-world.ts";

describe("the plan of a volume with pods", () => {
  const input = (intent: NodeVolumeIntent | undefined, open: string[], more: Partial<PlanInput> = {}) => ({
    input: { settings, desired: new Map(intent && [[volume, desired(intent, ...open)]]), ...more },
  });
  const withTargets = (...uids: string[]) => record({ targets: uids.map((uid) => podRecord(uid)) });
  const closing = (uid: string) => ({ closingPods: new Set([pathOf(uid)]) });
  const unpublish = { volume, kind: "unpublish", path: pathOf("a"), mountID: 30, unmountMode: "Normal" };

  it("stages it before a pod asks, and binds nothing", () => {
    const plan = planned(input(withPodsOf(["a"]), []));
    expect(plan.operation?.kind).to.equal("stage");
    const ready = planned({ ...input(withPodsOf(["a"]), []), records: [record({ targets: [] })], mounts: [staged] });
    expect([ready.operation, summaryOf(ready).state]).to.deep.equal([undefined, "Mounted"]);
    expect(podStatuses(ready)).to.deep.equal([{ uid: "a", volume: "data", state: "Pending" }]);
  });

  it("binds it for a pod that kubelet asks for, which is no fault of what others have", () => {
    const world = { records: [withTargets("b")], mounts: [staged, bound("b")] };
    const plan = planned({ ...input(withPodsOf(["a", "b"]), ["a", "b"]), ...world });
    expect(plan.operation).to.deep.include({ kind: "publish", path: pathOf("a") });
    expect(summaryOf(plan).ready).to.equal("True");
    expect(podStatuses(plan).map(({ state }) => state)).to.deep.equal(["Absent", "Mounted"]);
  });

  it("is ready for the others whatever stands in the way of one pod", () => {
    const foreign = entry({ id: 40, point: pathOf("a"), root: "/elsewhere", device: "0:99" });
    const world = { records: [withTargets("b")], mounts: [staged, bound("b"), foreign] };
    const plan = planned({ ...input(withPodsOf(["a", "b"]), ["a", "b"]), ...world });
    expect(podStatuses(plan).map(({ state, reason }) => reason ?? state)).to.deep.equal(["ForeignMount", "Mounted"]);
    expect(summaryOf(plan)).to.include({ ready: "True", state: "Mounted" });
  });

  it("keeps what a pod has that left the intent, and what it has of an intent that is deleted", () => {
    const world = { records: [withTargets("a")], mounts: [staged, bound("a")] };
    for (const intent of [withPodsOf(["b"]), withPodsOf(["a"], { deleting: true, generation: 2 })]) {
      const plan = planned({ ...input(intent, ["a"]), ...world });
      expect(plan.operation).to.equal(undefined);
      expect(plan.problems.targets.get(pathOf("a"))).to.deep.include({
        reason: "ConsumerStillRunning",
        on: { kind: "Pod", namespace: "team", name: "pod-a" },
      });
      expect(plan.actualState.inUse).to.equal(true);
      expect(podStatuses(plan).at(-1)).to.include({ uid: "a", state: "Mounted", reason: "ConsumerStillRunning" });
    }
  });

  it("does not take it down for other options either", () => {
    const records = [{ ...withTargets("a"), stage: { ...record().stage, options: ["size=1k"] } }] as never[];
    const plan = planned({ ...input(withPodsOf(["a"]), ["a"]), records, mounts: [staged, bound("a")] });
    expect(plan.operation?.kind).to.not.equal("unpublish");
    expect(plan.problems.targets.get(pathOf("a"))?.reason).to.equal("ConsumerStillRunning");
    const { message, ...standing } = summaryOf(plan);
    expect(standing).to.deep.equal({ state: "Updating", ready: "True", reason: "ConsumerStillRunning" });
    expect(message).to.contain("mounted with the options of before").and.contain("pod-a");
    const left = planned({
      ...input(withPodsOf(["b"]), []),
      records: [withTargets("a")],
      mounts: [staged, bound("a")],
    });
    expect(summaryOf(left), "a pod that has left alone").to.include({ state: "Mounted", reason: "Mounted" });
  });

  it("keeps the host's mounts as well until the pods are gone, when other options need a new mount", () => {
    const host = targetRecord();
    const stage = { ...record().stage, options: ["size=1k"] } as never;
    const intent = withPodsOf(["a"], { mounts: [{ path: `${prefix}/a` }] });
    const world = {
      mounts: [staged, mounted, bound("a")],
      records: [record({ stage, targets: [host, podRecord("a")] })],
    };
    const plan = planned({ ...input(intent, ["a"]), ...world });
    expect(plan.operation).to.equal(undefined);
    expect(plan.problems.targets.get(pathOf("a"))?.reason).to.equal("ConsumerStillRunning");
    const next = planned({ ...input(withPodsOf(["a", "b"], { mounts: [{ path: host.path }] }), ["a", "b"]), ...world });
    expect(next.operation).to.deep.include({ kind: "publish", path: pathOf("b") });
    const alone = planned({ ...input(intent, []), ...world, records: [record({ stage, targets: [host] })] });
    expect(alone.operation).to.deep.include({ kind: "unpublish", path: host.path });
  });

  const world = { records: [withTargets("a")], mounts: [staged, bound("a")] };
  const stories: readonly (readonly [string, NodeVolumeIntent | undefined, Partial<PlanInput>?])[] = [
    ["that names the pod", withPodsOf(["a"])],
    ["that does not", withPodsOf(["b"])],
    ["that is suspended", withPodsOf(["a"], { suspend: true })],
    ["that is deleted", withPodsOf(["a"], { deleting: true, generation: 2 })],
    ["that is retained", withPodsOf(["a"], { deleting: true, generation: 2, deletionPolicy: "Retain" })],
    ["of an older generation", withPodsOf(["a"], { generation: 0 })],
    ["that is not granted", withPodsOf(["a"], { grant: undefined } as never)],
    ["of another life", withPodsOf(["a"], { uid: "uid-2" })],
    ["that vanished", undefined],
    ["that was not read yet", undefined, { synced: false }],
  ];
  for (const [what, intent, more] of stories) {
    it(`takes down what kubelet has given back, with an intent ${what}`, () => {
      const plan = planned({ ...input(intent, [], { ...closing("a"), ...more }), ...world });
      expect(plan.operation).to.deep.equal(unpublish);
      expect(plan.problems.targets.get(pathOf("a"))).to.equal(undefined);
    });
  }

  for (const [what, intent, more] of stories) {
    it(`removes what a reboot has left of one that kubelet gives back, with an intent ${what}`, () => {
      const left = { records: [afterReboot(withTargets("a"))], mounts: [] };
      const plan = planned({ ...input(intent, [], { ...closing("a"), ...more }), ...left });
      expect(plan.operation).to.deep.equal({ volume, kind: "unpublish", path: pathOf("a"), unmountMode: "Normal" });
    });
  }

  it("takes nothing down while the table cannot be read", () => {
    const plan = planned({ ...input(withPodsOf(["a"]), [], closing("a")), ...world, mounts: "unreadable" });
    expect(plan.operation).to.equal(undefined);
  });

  it("does not touch what is mounted over ours", () => {
    const mounts = [...world.mounts, entry({ id: 31, parent: 30, point: pathOf("a"), device: "0:99" })];
    const plan = planned({ ...input(withPodsOf(["a"]), [], closing("a")), ...world, mounts });
    expect(plan.operation).to.equal(undefined);
    expect(plan.problems.targets.get(pathOf("a"))?.reason).to.equal("ForeignMountOnTarget");
  });

  it("has no pod any more after a reboot, but a mount point to remove", () => {
    const [target] = afterReboot(withTargets("a")).targets;
    expect(target).to.not.have.property("pod");
    const plan = planned({ ...input(withPodsOf(["b"]), []), records: [afterReboot(withTargets("a"))], mounts: [] });
    expect(plan.operation).to.deep.include({ kind: "unpublish", path: pathOf("a") });
  });

  it("lets no mount of the host onto kubelet's paths", () => {
    const intent = withPodsOf([], { mounts: [{ path: pathOf("a") }], pods: [] });
    const allowed = { settings: { ...settings, allowedPrefixes: [prefix, "/var/lib"] } };
    const plan = planned({ ...input(intent, [], allowed), records: [record({ targets: [] })], mounts: [staged] });
    expect(plan.operation).to.equal(undefined);
    expect(plan.problems.targets.get(pathOf("a"))?.reason).to.equal("PathNotAllowed");
  });

  it("binds no block device, and nothing of what kubelet manages", () => {
    const block = withPodsOf(["a"], { volumeMode: "Block", source: { local: { path: "/dev/sdb" } } });
    expect(desired(block, "a").mounts).to.deep.equal([]);
    expect(desired(withPodsOf(["a"], { mode: "Observe" }), "a").mounts).to.deep.equal([]);
  });

  it("takes a mount of the volume on a pod's path for its own, of which the record is lost", () => {
    const plan = planned({
      ...input(withPodsOf(["a"]), ["a"]),
      records: [record({ targets: [] })],
      mounts: [staged, bound("a")],
    });
    expect(plan.operation).to.deep.include({ kind: "adopt", path: pathOf("a"), mountID: 30 });
  });
});
