import { expect } from "chai";
import { isMounted } from "../../../../src/agent/model/actual-volume.ts";
import { asMountPath } from "../../../../src/agent/model/identities.ts";
import { summaryOf } from "../../../../src/agent/status/volume-summary.ts";
import { MountTable } from "../../../../src/host/mount-table/mount-table.ts";
import type { MountEntry } from "../../../../src/host/mount-table/mountinfo.ts";
import { entry } from "../../../lib/builders/mount-entries.ts";
import { planned, prefix, record, staged, targetRecord, wanted } from "../../../lib/builders/plan-world.ts";

const path = asMountPath(`${prefix}/a`);

/** The agent's table: the prefix is shared with the node in group 7, the mount on the target is in group 8. */
const own = [entry({ id: 5, point: prefix, shared: 7 }), staged, entry({ id: 20, parent: 5, point: path, shared: 8 })];

/** The node's, where ids and even paths may be others. */
const onNode = (...mounts: MountEntry[]) =>
  new MountTable([entry({ id: 100, point: "/var/mnt/nodevolume", shared: 7 }), ...mounts]);
const copy = entry({ id: 200, parent: 100, point: "/var/mnt/nodevolume/a", shared: 8 });

function seen(nodeTable: MountTable | undefined, intent = wanted(), mounts = own) {
  const records = [record({ targets: [targetRecord({ peerGroup: 8 })] })];
  const plan = planned({ intents: [intent], records, mounts, ...(nodeTable && { input: { nodeTable } }) });
  return { plan, target: plan.actualState.targets[0] };
}

describe("what the node sees of a mount", () => {
  it("is compared by peer group, so that the paths of the two may differ", () => {
    const { plan, target } = seen(onNode(copy));
    expect(target?.differsOnNode).to.equal(undefined);
    expect(plan.operation).to.equal(undefined);
  });

  it("is compared also by an agent whose container got it as a slave of the node's", () => {
    const slave = entry({ id: 20, parent: 5, point: path, master: 8 });
    const { plan, target } = seen(onNode(copy), wanted(), [own[0] ?? slave, staged, slave]);
    expect(target?.differsOnNode).to.equal(undefined);
    expect(plan.operation).to.equal(undefined);
  });

  it("is not asked when the agent is on the node itself", () => {
    expect(seen(undefined).plan.operation).to.equal(undefined);
  });

  it("missing there: it is made anew, and drift says so", () => {
    const { plan, target } = seen(onNode());
    expect(target).to.include({ differsOnNode: true, drift: "PropagationDiffers" });
    expect(target && isMounted(target), "what only the agent has is not shown (law L10)").to.equal(false);
    expect(summaryOf(plan).drift?.message).to.equal(
      `the node does not have ${path} any more: it was made private there and unmounted`,
    );
    expect(plan.operation).to.deep.include({ kind: "publish", path, replaces: 20 });
  });

  it("another mount in the same group does not stand for it", () => {
    const other = entry({ id: 201, parent: 100, point: "/elsewhere", shared: 8, device: "0:99" });
    expect(seen(onNode(other)).target?.differsOnNode).to.equal(true);
  });

  it("with other flags there: it is made anew, for flags do not propagate", () => {
    const { plan, target } = seen(onNode({ ...copy, options: ["ro", "nosuid", "nodev", "relatime"] }));
    expect(target).to.include({ differsOnNode: true, drift: "OptionsDiffer" });
    expect(target && isMounted(target)).to.equal(true);
    expect(summaryOf(plan).drift?.message).to.equal(`the node's mount at ${path} was remounted by somebody else: ro`);
    expect(plan.operation).to.deep.include({ kind: "publish", path, replaces: 20 });
  });

  it("a prefix that is not shared with the node: nothing is tried, the reason says what to do", () => {
    const { plan } = seen(new MountTable([entry({ id: 100, point: "/var/mnt/nodevolume", shared: 9 })]));
    expect(plan.operation).to.equal(undefined);
    expect(plan.problems.targets.get(path)?.reason).to.equal("NotPropagated");
    const released = seen(new MountTable([]), wanted({ deleting: true, generation: 2 }));
    expect(released.plan.operation, "and it can be taken down").to.deep.include({ kind: "unpublish", path });
  });
});
