import { expect } from "chai";
import { desiredVolume } from "../../../../../src/agent/desired/desired-volume.ts";
import type { Failure, Failures } from "../../../../../src/agent/model/failure.ts";
import { asIntentUID } from "../../../../../src/agent/model/identities.ts";
import type { PlanInput } from "../../../../../src/agent/model/plan-input.ts";
import type { VolumeRecord } from "../../../../../src/agent/model/volume-record.ts";
import type { Reason } from "../../../../../src/api/reasons.ts";
import { MountTable } from "../../../../../src/host/mount-table/mount-table.ts";
import { entry } from "../../../../lib/builders/mount-entries.ts";
import { plan } from "../../../../lib/builders/plan-whole.ts";
import { failuresAt, prefix, targetRecord, volume, wanted } from "../../../../lib/builders/plan-world.ts";

const identity = { device: "0:50", root: "/", source: "tmpfs" };
const source = { csi: { driver: "a.example", volumeHandle: "v" } };
const directory = "/csi/k";
const path = `${directory}/staging`;
const published = { path: `${directory}/mounts/a`, readOnly: false, identity };
const root = entry({ id: 1, parent: 0, point: "/", device: "8:1", fsType: "ext4", uniqueID: 1 });
const points = [path, published.path, `${prefix}/a`];
const table = new MountTable([root, ...points.map((point, i) => entry({ id: 10 + i, point, uniqueID: 10 + i }))]);

interface Before {
  readonly failed?: Reason;
  /** A size that the driver has refused to bring it to as it stands. */
  readonly refused?: string;
}

/** What is planned for a volume that has 100 bytes here and is to have `wantedBytes`, long after an attempt failed. */
function planned(wantedBytes: string, { failed, refused }: Before = {}): string[] {
  const grant = { id: "g", csi: { ...source.csi, accessMode: "ReadWriteOnce" as const } };
  const csi = { ...source.csi, directory, needsUnstage: true, block: false, shown: [{ identity }], calls: {} };
  const record: VolumeRecord = {
    name: volume,
    key: "key",
    type: "csi",
    uid: asIntentUID("uid-1"),
    generation: 1,
    stage: {
      kind: "csi",
      path,
      ready: true,
      options: [],
      fileKind: "directory",
      identity,
      csi: {
        ...csi,
        capacityBytes: "100",
        ...(refused !== undefined && { refused: { capacityBytes: refused, reason: "VolumeInUse", message: "no" } }),
      },
    },
    targets: [targetRecord({ identity, published, mountID: 12 })],
  };
  let failures: Failures = new Map();
  if (failed !== undefined) {
    const times = { attempts: 1, firstAt: 0, nextAt: 1, time: 0, nextTime: 1 };
    const failure: Failure = {
      kind: "expand",
      errorClass: "final",
      message: "no",
      reason: failed,
      generation: 1,
      ...times,
    };
    failures = failuresAt([{ volume }, failure]);
  }
  const input: PlanInput = {
    desired: new Map([[volume, desiredVolume(wanted({ source, grant, capacityBytes: wantedBytes }), "key")]]),
    synced: true,
    records: new Map([[volume, record]]),
    mayHaveLost: false,
    table,
    pendingOperations: new Map(),
    failures,
    contents: () => ({ known: true, version: "1" }),
    observed: new Map(),
    settings: { allowedPrefixes: [prefix], stateDir: "/state", hostRoot: "/", csiDir: "/csi" },
    now: 1_000_000,
  };
  return plan(input).operations.map(({ kind }) => kind);
}

describe("the growth of a CSI volume on its node (kubelet behaviours 72 to 74)", () => {
  it("is due while the volume is larger at its backend", () => {
    expect([planned("100"), planned("99"), planned("200")]).to.deep.equal([[], [], ["expand"]]);
  });

  it("is not asked for again after the driver refused that size, whatever else changes, until it is another size", () => {
    expect(planned("200", { refused: "200", failed: "VolumeInUse" })).to.deep.equal([]);
    expect(planned("200", { refused: "200" })).to.deep.equal([]);
    expect(planned("300", { refused: "200" })).to.deep.equal(["expand"]);
  });

  it("is asked for again after any other failure", () => {
    expect(planned("200", { failed: "DriverFailed" })).to.deep.equal(["expand"]);
  });
});
