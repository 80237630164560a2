import { expect } from "chai";
import type { NodeVolumeIntentSpec } from "../../../../src/api/types.gen.ts";
import { isResolved, resolveVolume } from "../../../../src/controller/attach/resolve-volume.ts";
import { contextTooLarge } from "../../../../src/controller/attach/size-limits.ts";
import { chooseNode } from "../../../../src/controller/claims/select-node.ts";
import {
  projectClaim,
  projectPersistentVolume,
  projectStorageClass,
} from "../../../../src/controller/model/storage-objects.ts";

type Spec = Pick<NodeVolumeIntentSpec, "source" | "volumeMode" | "mountOptions">;

const source = { persistentVolumeClaim: { namespace: "apps", claimName: "data" } };
const spec: Spec = { source, volumeMode: "Filesystem" };

function claim(status: object = { phase: "Bound" }, more: { metadata?: object; spec?: object } = {}) {
  const metadata = { name: "data", namespace: "apps", uid: "c", ...more.metadata };
  return { metadata, spec: { volumeName: "pv", storageClassName: "class", ...more.spec }, status };
}

function volume(more: object = {}, metadata: object = {}) {
  const csi = { driver: "d", volumeHandle: "h" };
  const claimRef = { namespace: "apps", name: "data", uid: "c" };
  const all = { csi, claimRef, accessModes: ["ReadWriteOnce"], capacity: { storage: "1Gi" }, ...more };
  return { metadata: { name: "pv", uid: "p", ...metadata }, spec: all };
}

function resolve(rawClaim: unknown, rawVolume: unknown, rawClass?: unknown, of: Spec = spec) {
  return resolveVolume(of, {
    claim: () => projectClaim(rawClaim),
    persistentVolume: () => projectPersistentVolume(rawVolume),
    storageClass: () => projectStorageClass(rawClass),
    csiDriver: () => undefined,
  });
}

const late = { metadata: { name: "class" }, volumeBindingMode: "WaitForFirstConsumer", provisioner: "d" };
const byHand = { ...late, provisioner: "kubernetes.io/no-provisioner" };
const deletionTimestamp = "2024-01-01T00:00:00Z";

describe("resolveVolume", () => {
  const refused: readonly [string, unknown, unknown, unknown, string][] = [
    ["no claim", undefined, volume(), undefined, "ClaimNotFound"],
    [
      "a claim that is being deleted",
      claim(undefined, { metadata: { deletionTimestamp } }),
      volume(),
      undefined,
      "ClaimDeleting",
    ],
    ["a lost one", claim({ phase: "Lost" }), undefined, undefined, "ClaimLost"],
    ["a pending one", claim({ phase: "Pending" }, { spec: { volumeName: "" } }), undefined, undefined, "ClaimNotBound"],
    ["one that nobody has looked at", claim({}), undefined, undefined, "ClaimNotBound"],
    [
      "one whose consumer comes first",
      claim({ phase: "Pending" }, { spec: { volumeName: "" } }),
      undefined,
      late,
      "ClaimNotBound",
    ],
    [
      "volumes by hand, for the scheduler",
      claim({ phase: "Pending" }, { spec: { volumeName: "" } }),
      undefined,
      byHand,
      "NeedsScheduler",
    ],
    ["no PersistentVolume", claim(), undefined, undefined, "PersistentVolumeNotFound"],
    [
      "one that is another claim's",
      claim(),
      volume({ claimRef: { namespace: "apps", name: "other", uid: "c" } }),
      undefined,
      "ClaimMismatch",
    ],
    [
      "one of an earlier claim of the name",
      claim(),
      volume({ claimRef: { namespace: "apps", name: "data", uid: "old" } }),
      undefined,
      "ClaimMismatch",
    ],
    ["one that is nobody's", claim(), volume({ claimRef: undefined }), undefined, "ClaimMismatch"],
    ["one that is being deleted", claim(), volume({}, { deletionTimestamp }), undefined, "ClaimDeleting"],
    ["one of no driver", claim(), volume({ csi: undefined }), undefined, "VolumeSourceUnsupported"],
    ["a block device", claim(), volume({ volumeMode: "Block" }), undefined, "VolumeModeMismatch"],
    [
      "too many attributes",
      claim(),
      volume({
        csi: {
          driver: "d",
          volumeHandle: "h",
          volumeAttributes: Object.fromEntries([...Array(25).keys()].map((n) => [`k${n}`, "v"])),
        },
      }),
      undefined,
      "VolumeTooLarge",
    ],
    [
      "a handle too long",
      claim(),
      volume({ csi: { driver: "d", volumeHandle: "h".repeat(513) } }),
      undefined,
      "VolumeTooLarge",
    ],
  ];
  for (const [title, rawClaim, rawVolume, rawClass, reason] of refused) {
    it(`${title}: ${reason}`, () => {
      const found = resolve(rawClaim, rawVolume, rawClass);
      expect(isResolved(found) ? "resolved" : found.waiting.reason).to.equal(reason);
    });
  }

  it("hands on what the driver needs to know, and where it is attached by", () => {
    const secret = { namespace: "s", name: "n" };
    const csi = { driver: "d", volumeHandle: "h", fsType: "xfs", readOnly: true, volumeAttributes: { a: "b" } };
    const found = resolve(claim(), volume({ csi: { ...csi, nodeStageSecretRef: secret }, mountOptions: ["noatime"] }));
    if (!isResolved(found)) throw new Error(found.waiting.message);
    const told = { ...csi, nodeStageSecretRef: secret, mountOptions: ["noatime"], accessMode: "ReadWriteOnce" };
    expect(found.csi).to.deep.equal({ ...told, supportsFSGroup: false });
    expect(found.attachmentSource).to.deep.equal({ persistentVolumeName: "pv" });
    expect(found.capacityBytes).to.equal("1073741824");
  });

  it("a source that names the volume is attached inline, with the secret of the attacher alone", () => {
    const controllerPublishSecretRef = { namespace: "s", name: "n" };
    const csi = { driver: "d", volumeHandle: "h", controllerPublishSecretRef };
    const found = resolve(undefined, undefined, undefined, { source: { csi }, volumeMode: "Block" });
    if (!isResolved(found)) throw new Error(found.waiting.message);
    const told = { driver: "d", volumeHandle: "h", accessMode: "ReadWriteOnce" };
    expect(found.csi).to.deep.equal({ ...told, supportsFSGroup: false });
    const inlineVolumeSpec = { accessModes: ["ReadWriteOnce"], volumeMode: "Block", csi };
    expect(found.attachmentSource).to.deep.equal({ inlineVolumeSpec });
  });

  const modes: readonly [string[], boolean, string][] = [
    [["ReadWriteOnce"], false, "ReadWriteOnce"],
    [["ReadWriteOnce", "ReadOnlyMany"], false, "ReadWriteOnce"],
    [["ReadWriteOnce", "ReadOnlyMany"], true, "ReadOnlyMany"],
    [["ReadOnlyMany", "ReadWriteOnce"], false, "ReadWriteOnce"],
    [["ReadOnlyMany"], false, "ReadOnlyMany"],
    [["ReadWriteOnce", "ReadWriteMany"], true, "ReadWriteMany"],
    [["ReadWriteOncePod"], false, "ReadWriteOncePod"],
  ];
  for (const [accessModes, readOnly, wanted] of modes) {
    it(`${accessModes.join(", ")}${readOnly ? ", read-only" : ""}: ${wanted}`, () => {
      const of = { ...spec, source: { persistentVolumeClaim: { ...source.persistentVolumeClaim, readOnly } } };
      const found = resolve(claim(), volume({ accessModes }), undefined, of);
      expect(isResolved(found) && found.csi?.accessMode).to.equal(wanted);
    });
  }
});

describe("contextTooLarge", () => {
  it("takes 4 KiB, and no more", () => {
    const values = Object.fromEntries(["a", "b", "c", "d"].map((key) => [key, "x".repeat(1023)]));
    expect(contextTooLarge(values)).to.equal(undefined);
    expect(contextTooLarge({ ...values, e: "x" })).to.match(/4098 bytes/);
    expect(contextTooLarge({ a: "x".repeat(1025) })).to.match(/1024 characters/);
    expect(contextTooLarge(Object.fromEntries([...Array(33).keys()].map((n) => [`k${n}`, ""])))).to.match(/33 entries/);
  });
});

describe("chooseNode", () => {
  const found = projectClaim(claim({}, { spec: { volumeName: "" } }));
  const selected = projectClaim(
    claim({}, { metadata: { annotations: { "volume.kubernetes.io/selected-node": "x" } } }),
  );
  if (found === undefined || selected === undefined) throw new Error("no claim");
  const one = new Set(["n0"]);

  it("the one node that wants the claim", () => {
    expect(chooseNode(found, one, undefined).select).to.deep.equal({ node: "n0", inMs: 0 });
  });
  it("none of several, and none if nobody wants it", () => {
    for (const nodes of [new Set(["n0", "n1"]), new Set<string>()]) {
      const choice = chooseNode(found, nodes, undefined);
      expect([choice.waiting.reason, choice.select]).to.deep.equal(["NeedsScheduler", undefined]);
    }
  });
  it("leaves what somebody has chosen", () => {
    expect(chooseNode(selected, one, undefined)).to.not.have.property("select");
  });
  it("asks a provisioner that refused ever less often", () => {
    const delays = [1, 2, 3, 10].map((times) => chooseNode(found, one, { times, agoMs: 1_000 }).select?.inMs);
    expect(delays).to.deep.equal([14_000, 29_000, 59_000, 299_000]);
    expect(chooseNode(found, one, { times: 1, agoMs: 0 }).waiting.reason).to.equal("ProvisioningRefusedForNode");
  });
});
