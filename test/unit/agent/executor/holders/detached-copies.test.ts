import { expect } from "chai";
import { asVolumeName } from "../../../../../src/agent/model/identities.ts";
import type { DetachedCopy } from "../../../../../src/agent/model/volume-record.ts";
import { VolumeError } from "../../../../../src/errors.ts";
import {
  type Holder,
  type InNamespace,
  NamespacesUnknown,
  PinnedUnknown,
  sameNamespace,
} from "../../../../../src/host/ports/evidence.ts";
import { wanted } from "../../../../lib/builders/plan-world.ts";
import { FakeAgent } from "../../fake-agent.ts";

const name = asVolumeName("node.volume-1");
const path = "/mnt/a";
const pod = { uid: "a", namespace: "team", name: "pod-a", volume: "data" };
const first: Holder = { pid: 70, command: "nginx", mountPoint: path, namespace: "mnt:[1]", namespaceID: "5" };
const node: Holder = { pid: 1, command: "systemd", mountPoint: path, namespace: "mnt:[0]", onNode: true };
const memory = { emptyDir: { medium: "Memory" } } as const;

/** Where a volume stands that is released, after its pod's bind went while these copies were seen. */
async function released(mountedOn: () => Promise<readonly Holder[]>, there: readonly InNamespace[] = []) {
  const agent = await FakeAgent.start();
  const intent = (more: object = {}) => wanted({ source: memory, mounts: [{ path }], ...more });
  await agent.want(intent());
  // The planner has the release of a pod's bind wait for its pod: of this one only the action knows that it has one.
  agent.host.before = async (call) => {
    if (call === `unmount ${path}`) Object.assign(agent.journal.records.get(name)?.targets[0] ?? {}, { pod });
  };
  Object.assign(agent.host.evidence, {
    mountedOn,
    members: async (asked: readonly InNamespace[]) =>
      there.filter((one) => asked.some((copy) => sameNamespace(copy, one))).map((one) => ({ ...first, ...one })),
  });
  await agent.want(intent({ deleting: true, generation: 2 }));
  const volume = agent.plan?.volumes.get(name);
  await agent.loop.stop();
  const copies: readonly DetachedCopy[] | undefined = agent.journal.records.get(name)?.copies;
  return { phase: volume?.phase, message: agent.failures.at(-1)?.message, copies };
}

describe("copies of a pod's bind that go with its mount point", () => {
  it("are waited for by the id of their namespace, whatever has its number by then", async () => {
    const { phase, copies, message } = await released(async () => [first], [first]);
    expect([phase, copies]).to.deep.equal(["tearDown", [{ namespace: "mnt:[1]", namespaceID: "5", path }]]);
    expect(message).to.contain("pid 70 (nginx)");
    expect((await released(async () => [first], [{ ...first, namespaceID: "6" }])).phase).to.equal("released");
    expect((await released(async () => [first], [{ namespace: "mnt:[1]" }])).phase).to.equal("tearDown");
  });

  it("are not waited for in the node's own namespace, which never ends", async () => {
    expect((await released(async () => [node], [node])).phase).to.equal("released");
  });

  it("are waited for while it is not known whether there are any", async () => {
    const { phase, copies, message } = await released(() => Promise.reject(new NamespacesUnknown("process 1: EACCES")));
    expect([phase, copies]).to.deep.equal(["tearDown", [{ path }]]);
    expect(message).to.contain(`it is unknown whether other mount namespaces had copies of ${path}`);
    expect(message).to.contain("Restart the node");
  });

  it("are waited for until the namespaces are gone that could not be read, where their names are known", async () => {
    const unread = new PinnedUnknown("the file /a keeps mnt:[7]", ["mnt:[7]"], [first, node]);
    const look = () => Promise.reject(unread);
    const { phase, copies } = await released(look, [{ namespace: "mnt:[7]", namespaceID: "9" }]);
    const known = { namespace: "mnt:[1]", namespaceID: "5", path };
    expect([phase, copies]).to.deep.equal(["tearDown", [known, { namespace: "mnt:[7]", path }]]);
    expect((await released(look, [first])).phase, "what others had counts, too").to.equal("tearDown");
    expect((await released(look)).phase).to.equal("released");
    const any = new PinnedUnknown("descriptor 3 of process 9 may keep one");
    expect((await released(() => Promise.reject(any))).copies).to.deep.equal([{ path }]);
  });

  it("are looked for again if that has failed for now: the bind's mount point stays until then", async () => {
    const tooFast = new VolumeError("StillReferenced", "transient", "new mount namespaces appear too fast");
    const { phase, copies, message } = await released(() => Promise.reject(tooFast));
    expect([phase, copies, message]).to.deep.equal(["tearDown", undefined, tooFast.message]);
  });
});
