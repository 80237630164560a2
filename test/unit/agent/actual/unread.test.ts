import { expect } from "chai";
import { understand } from "../../../../src/agent/desired/intents.ts";
import { volumeKey } from "../../../../src/agent/desired/volume-key.ts";
import { asVolumeName } from "../../../../src/agent/model/identities.ts";
import type { PlanInput } from "../../../../src/agent/model/plan-input.ts";
import { podTargetPath } from "../../../../src/agent/model/pod-path.ts";
import { statusOf } from "../../../../src/agent/status/intent-status.ts";
import type { MountEntry } from "../../../../src/host/mount-table/mountinfo.ts";
import { entry } from "../../../lib/builders/mount-entries.ts";
import {
  planned,
  prefix,
  record,
  stageRecord,
  targetRecord,
  volume,
  type World,
  wanted,
} from "../../../lib/builders/plan-world.ts";

const path = `${prefix}/a`;
const staging = `/state/staging/${volumeKey(volume)}`;
const kubeletDir = "/kubelet";
const settings = { allowedPrefixes: [prefix], stateDir: "/state", hostRoot: "/", csiDir: "/csi", kubeletDir };
const other = { device: "0:99", fsType: "nfs4", source: "srv:/x" };
const onTarget = entry({ id: 30, point: path });

/** The intent of a later version, with fields of its own. */
function later(change: object = {}, { deleting = true } = {}) {
  const raw = wanted({ deleting, generation: 2 });
  const spec = { ...raw.spec, ofNextWeek: { depth: 3 }, ...change };
  const entryOf = understand({ ...raw, spec });
  if (entryOf === undefined) throw new Error("no intent");
  return entryOf;
}

interface Lost {
  readonly intent?: ReturnType<typeof later>;
  readonly mounts?: readonly MountEntry[] | "unreadable";
  readonly mayHaveLost?: boolean;
  readonly records?: World["records"];
}

/** Phase, inUse as the status says it, operation, and what stands in the way. */
function look({ intent = later(), mounts = [], mayHaveLost = true, records = [] }: Lost) {
  const input: Partial<PlanInput> = { desired: new Map([[volume, intent.desired]]), mayHaveLost, settings };
  const plan = planned({ mounts, records, input });
  const { inUse, state } = statusOf(intent.raw, plan, { agent: { bootID: "b", epoch: 1 }, now: 0 });
  return { phase: plan.phase, inUse, state, operation: plan.operation, problem: plan.problems.volume };
}

describe("an intent that is not understood, whose record may be lost", () => {
  it("is released where nothing is mounted", () => {
    expect(look({})).to.include({ phase: "released", inUse: false, state: "Released" });
  });

  for (const [where, point] of [
    ["its target", path],
    ["its staging path", staging],
  ] as const) {
    it(`is in use while something is mounted on ${where}, which is not touched`, () => {
      const mounts = [entry({ id: 30, point })];
      const { problem, ...found } = look({ mounts });
      expect(found).to.deep.equal({ phase: "tearDown", inUse: true, state: "Unmounting", operation: undefined });
      expect(problem).to.deep.include({ reason: "Invalid", on: { kind: "Mount", name: point } });
      expect(problem?.message)
        .to.contain("spec.ofNextWeek")
        .and.contain(`kubectl annotate nvi ${volume} nodevolume.dev/release=`);
      const kept = look({ intent: later({}, { deleting: false }), mounts });
      expect(kept).to.include({ phase: "invalid", inUse: true, state: "Invalid", operation: undefined });
    });
  }

  it("is in use while it is mounted for a pod that it names", () => {
    const pod = { uid: "pod-1", volume: "v", namespace: "ns", name: "p", readOnly: false };
    const mounts = [entry({ id: 30, point: podTargetPath(kubeletDir, pod) })];
    expect(look({ mounts }).inUse).to.equal(false);
    expect(look({ intent: later({ pods: [pod] }), mounts })).to.include({ phase: "tearDown", inUse: true });
  });

  it("is in use while the mount table cannot be read, whatever the journal is", () => {
    for (const mayHaveLost of [true, false]) {
      const { problem, ...found } = look({ mounts: "unreadable", mayHaveLost });
      expect(found).to.include({ phase: "tearDown", inUse: true });
      expect(problem?.reason).to.equal("MountTableUnreadable");
    }
  });

  it("is in use where the spec does not say where to look, or a driver may have staged it", () => {
    const unreadable = [{ mounts: 7 }, { mounts: [{ path: 1 }] }, { pods: [{ uid: "pod-1" }] }];
    const csi = { source: { csi: { driver: "a.example", volumeHandle: "v" } } };
    const drivers = [csi, { source: { persistentVolumeClaim: { claimName: "c" } } }, { source: { ofNextWeek: {} } }];
    const ofObjects = ["toString", "constructor"].map((type) => ({ source: { [type]: {} } }));
    for (const change of [...unreadable, ...drivers, ...ofObjects]) {
      const intent = later(change);
      const told = JSON.stringify(change);
      expect(look({ intent }), told).to.include({ phase: "tearDown", inUse: true, operation: undefined });
      expect(look({ intent, mayHaveLost: false }), told).to.include({ phase: "released", inUse: false });
    }
  });

  it("was never set up without a grant, or in mode Observe", () => {
    for (const change of [{ grant: undefined }, { mode: "Observe" }]) {
      expect(look({ intent: later(change), mounts: [onTarget] })).to.include({ phase: "released", inUse: false });
    }
  });

  it("has nothing on its target that a whole journal does not tell of, or that another volume has on record", () => {
    expect(look({ mounts: [onTarget], mayHaveLost: false })).to.include({ phase: "released", inUse: false });
    const records = [
      record({ name: asVolumeName("node.volume-2"), key: "other", targets: [targetRecord({ mountID: 30 })] }),
    ];
    expect(look({ mounts: [onTarget], records })).to.include({ phase: "released", inUse: false });
    const stacked = [onTarget, entry({ id: 31, parent: 30, point: path })];
    expect(look({ mounts: stacked, records })).to.include({ phase: "tearDown", inUse: true });
  });

  it("with a record of the stage alone, keeps it while its target shows what is staged", () => {
    const point = "/state/staging/key";
    const records = [record({ stage: stageRecord({ path: point }), targets: [] })];
    const staged = entry({ id: 29, point });
    const held = look({ records, mounts: [staged, onTarget] });
    expect(held).to.include({ phase: "tearDown", inUse: true, operation: undefined });
    const foreign = look({ records, mounts: [staged, { ...onTarget, ...other }] });
    expect(foreign.operation).to.deep.include({ kind: "unstage", mountID: 29 });
  });

  it("Retain: what is there is left to nobody", () => {
    const intent = later({ deletionPolicy: "Retain" });
    expect(look({ intent, mounts: [onTarget] })).to.include({ phase: "retained", operation: undefined });
  });
});

describe("an intent with a mount option that no list has, whoever has written it", () => {
  const withOption = (option: string) => {
    const raw = wanted();
    const source = { nfs: { server: "10.0.0.1", path: "/a" } };
    const intent = understand({ ...raw, spec: { ...raw.spec, source, mountOptions: ["hard", option] } });
    if (intent === undefined) throw new Error("no intent");
    return look({ intent, mayHaveLost: false });
  };

  for (const option of ["context=system_u:object_r:tmp_t:s0", "upcall=/tmp/x", "lowerdir=/etc", "suid", "hard,dev"])
    it(`is not set up: ${option}`, () => {
      const found = withOption(option);
      expect(found).to.include({ state: "Invalid", operation: undefined });
      expect(found.problem?.reason).to.equal("Invalid");
      expect(found.problem?.message).to.include(".spec.mountOptions: each of mountOptions must be one option that is");
    });

  it("is set up without it", () => {
    expect(withOption("timeo=600").operation?.kind).to.equal("stage");
  });
});
