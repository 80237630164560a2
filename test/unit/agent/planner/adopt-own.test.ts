import { expect } from "chai";
import type { IntentInput } from "../../../../hack/lib/agent-on-kernel/intent.ts";
import { asMountPath } from "../../../../src/agent/model/identities.ts";
import { entry } from "../../../lib/builders/mount-entries.ts";
import {
  mounted,
  planned,
  prefix,
  record,
  staged,
  stageRecord,
  volume,
  type World,
  wanted,
} from "../../../lib/builders/plan-world.ts";

const path = asMountPath(`${prefix}/a`);
const adopt = { volume, kind: "adopt", path, mountID: 30 };

/** A volume that is staged, with a mount of the same file system on its target, of which there is no record. */
function withEqual(
  shown: { readonly device: string; readonly fsType: string; readonly source: string },
  how: Partial<IntentInput>,
  input?: World["input"],
  options: readonly string[] = [],
) {
  const identity = { device: shown.device, root: "/" };
  const mounts = [entry({ ...staged, ...shown }), entry({ ...mounted, id: 30, ...shown })];
  const recorded = record({ stage: stageRecord({ identity, options }), targets: [] });
  const world = { intents: [wanted(how)], records: [recorded], mounts };
  return planned({ ...world, ...(input && { input }) });
}

const shared: readonly { source: IntentInput["source"]; shown: Parameters<typeof withEqual>[0]; fsType?: "ext4" }[] = [
  {
    source: { nfs: { server: "srv", path: "/x" } },
    shown: { device: "0:60", fsType: "nfs4", source: "srv:/x" },
  },
  {
    source: { cifs: { server: "srv", share: "x", secretRef: { namespace: "a", name: "b" } } },
    shown: { device: "0:61", fsType: "cifs", source: "//srv/x" },
  },
  {
    source: { local: { path: "/dev/sdb" } },
    fsType: "ext4",
    shown: { device: "8:16", fsType: "ext4", source: "/dev/sdb" },
  },
  {
    source: { local: { disk: { serial: "S1", empty: true } } },
    fsType: "ext4",
    shown: { device: "8:16", fsType: "ext4", source: "/dev/sdb" },
  },
];

describe("adopt: Never, beside a mount of somebody else that has the same file system", () => {
  for (const { source, shown, fsType } of shared) {
    const how = { source, ...(fsType !== undefined && { fsType }) };
    const named = JSON.stringify(source);

    it(`leaves it alone while the volume is wanted, and says so: ${named}`, () => {
      const { operation, problems } = withEqual(shown, how);
      expect(operation).to.equal(undefined);
      expect(problems.targets.get(path)?.reason).to.equal("ForeignMount");
    });

    it(`leaves it alone when the volume is released: ${named}`, () => {
      const { operation } = withEqual(shown, { ...how, deleting: true, generation: 2 });
      expect(operation).to.deep.include({ kind: "unstage", mountID: 10 });
    });

    it(`takes it over if the record of it may be lost: ${named}`, () => {
      const lost = { mayHaveLost: true };
      expect(withEqual(shown, how, lost).operation).to.deep.equal(adopt);
      expect(withEqual(shown, { ...how, deleting: true, generation: 2 }, lost).operation).to.deep.equal(adopt);
    });
  }

  it("IfSame is asked for a mount that is wanted, not for one that is not", () => {
    const [nfs] = shared;
    if (nfs === undefined) throw new Error("none");
    const { source, shown } = nfs;
    expect(withEqual(shown, { source, adopt: "IfSame" }).operation).to.deep.equal(adopt);
    const { operation } = withEqual(shown, { source, adopt: "IfSame", deleting: true, generation: 2 });
    expect(operation).to.deep.include({ kind: "unstage" });
  });

  it("what only we make is ours without a record", () => {
    const memory = { device: "0:50", fsType: "tmpfs", source: "nodevolume-key" };
    expect(withEqual(memory, {}, {}, ["mode=0777"]).operation).to.deep.equal(adopt);
    expect(withEqual(memory, { deleting: true, generation: 2 }).operation).to.deep.equal(adopt);
  });
});
