import { expect } from "chai";
import type { IntentInput } from "../../../../hack/lib/agent-on-kernel/intent.ts";
import { asIntentUID } from "../../../../src/agent/model/identities.ts";
import type { Observation } from "../../../../src/agent/model/plan-input.ts";
import { summaryOf } from "../../../../src/agent/status/volume-summary.ts";
import type { MountEntry } from "../../../../src/host/mount-table/mountinfo.ts";
import { entry } from "../../../lib/builders/mount-entries.ts";
import { planned, prefix, volume, wanted } from "../../../lib/builders/plan-world.ts";

const path = `${prefix}/a`;
const root = { device: "8:1", fsType: "ext4", source: "/dev/root" };

function observed(
  source: IntentInput["source"],
  mount?: Partial<MountEntry>,
  seen: Partial<Observation> & { volumeMode?: "Block"; adopt?: "Never" | "IfSame" } = {},
) {
  const { volumeMode = "Filesystem", adopt = "Never", ...shown } = seen;
  const input = {
    observed: new Map([[volume, { uid: asIntentUID("uid-1"), generation: 1, at: 1_000, mountID: 1, ...shown }]]),
  };
  const mounts = mount === undefined ? [] : [entry({ id: 30, point: path, ...mount })];
  const plan = planned({ intents: [wanted({ mode: "Observe", source, volumeMode, adopt })], mounts, input });
  const { ready, reason, message } = summaryOf(plan);
  return { plan, said: `${ready} ${reason}`, message };
}

describe("an observed volume", () => {
  it("nfs is compared by its source, whatever version was negotiated", () => {
    const nfs = { nfs: { server: "srv", path: "/x" } };
    const nfs4 = { device: "0:60", fsType: "nfs4", superOptions: ["rw", "vers=4.2"] };
    expect(observed(nfs, { ...nfs4, source: "srv:/x" }).said).to.equal("True Observing");
    expect(observed(nfs, { ...nfs4, source: "srv:/x/" }).said).to.equal("True Observing");
    expect(observed(nfs, { ...nfs4, source: "srv:/y" }).said).to.equal("False ForeignMount");
    expect(observed(nfs).said).to.equal("False WouldChange");
  });

  it("a disk is compared by its device number, not by the node that stands for it", () => {
    const disk = { local: { path: "/dev/sdb" } };
    const source = { identity: { device: "0:6", root: "/sdb" }, deviceNumber: "8:16" };
    const onDisk = { device: "8:16", fsType: "ext4", source: "/dev/sdb" };
    expect(observed(disk, onDisk, { source }).said).to.equal("True Observing");
    expect(observed(disk, { ...onDisk, device: "8:32" }, { source }).said).to.equal("False ForeignMount");
    const node = { device: "0:6", fsType: "devtmpfs", source: "udev", root: "/sdb" };
    expect(observed(disk, node, { source, volumeMode: "Block" }).said).to.equal("True Observing");
  });

  it("a path is compared by what the look at it showed", () => {
    const hostPath = { hostPath: { path: "/link" } };
    const source = { identity: { device: "8:1", root: "/data" } };
    expect(observed(hostPath, { ...root, root: "/data" }, { source }).said).to.equal("True Observing");
    expect(observed(hostPath, { ...root, root: "/link" }, { source }).said).to.equal("False ForeignMount");
  });

  it("says that flags would be changed of a mount that would be taken over, and of no other", () => {
    const nfs = { nfs: { server: "srv", path: "/x" } };
    const mount = { device: "0:60", fsType: "nfs4", source: "srv:/x" };
    const flags = (options: readonly string[]) => ({ ...mount, options });
    const { said, message, plan } = observed(nfs, flags(["rw", "relatime"]), { adopt: "IfSame" });
    expect(said).to.equal("False WouldChange");
    expect(message).to.equal(`mode Manage would: change the options of ${path} in place`);
    expect(plan.operation, "nothing is touched").to.equal(undefined);
    expect(observed(nfs, flags(["rw", "nosuid", "nodev", "relatime"]), { adopt: "IfSame" }).said).to.equal(
      "True Observing",
    );
    expect(observed(nfs, flags(["rw", "relatime"])).said).to.equal("True Observing");
  });

  it("of what only we make it says that it would be set up", () => {
    for (const source of [
      { emptyDir: {} },
      { emptyDir: { medium: "Memory" as const } },
      { secret: { namespace: "a", secretName: "b" } },
    ]) {
      const { said, message } = observed(source);
      expect(said).to.equal("False WouldChange");
      expect(message).to.equal(`mode Manage would: stage the volume; mount on ${path}`);
    }
  });

  it("looks at the source again after a while, and when it is on another mount, and says the same meanwhile", () => {
    const hostPath = { hostPath: { path: "/data" } };
    expect(observed(hostPath).plan.operation, "fresh").to.equal(undefined);
    expect(observed(hostPath, undefined, { at: -40_000 }).plan.operation).to.deep.equal({ volume, kind: "observe" });
    expect(observed(hostPath, undefined, { mountID: 99 }).plan.operation).to.deep.equal({ volume, kind: "observe" });
    expect(observed(hostPath, undefined, { at: -40_000 }).message).to.equal(observed(hostPath).message);
    expect(observed(hostPath, undefined, { generation: 0 }).said, "never looked").to.equal("Unknown Progressing");
  });

  it("takes nothing from a look that was for an earlier intent of its name", () => {
    const hostPath = { hostPath: { path: "/data" } };
    const source = { identity: { device: "8:1", root: "/before" } };
    const { said, plan } = observed(hostPath, { ...root, root: "/before" }, { source, uid: asIntentUID("uid-0") });
    expect(said).to.equal("Unknown Progressing");
    expect(plan.operation).to.deep.equal({ volume, kind: "observe" });
  });

  it("of another mount it does not say what only a managed volume could do about it", () => {
    const { message } = observed({ nfs: { server: "srv", path: "/x" } }, { device: "0:9", source: "other" });
    expect(message).to.contain("differs from the spec").and.not.to.contain("adopt");
  });
});
