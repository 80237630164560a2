import { expect } from "chai";
import { asVolumeName } from "../../../../src/agent/model/identities.ts";
import { VolumeError } from "../../../../src/errors.ts";
import type { Effects, Holder } from "../../../../src/host/ports/host-ports.ts";
import { wanted } from "../../../lib/builders/plan-world.ts";
import { FakeAgent } from "../fake-agent.ts";

const name = asVolumeName("node.volume-1");
const nginx: Holder = { pid: 70, command: "nginx", mountPoint: "/mnt/a" };
const intent = (more: object = {}) => wanted({ mounts: [{ path: "/mnt/a" }], ...more });
const deleted = () => intent({ deleting: true, generation: 2 });

/** An agent with the volume mounted on /mnt/a, and the mount points that were removed. */
async function mountedAgent(there = false) {
  const agent = await FakeAgent.start();
  const { host } = agent;
  const removed: string[] = [];
  const effects = host.effects.bind(host);
  host.effects = (): Effects => {
    const all = effects();
    const removeTarget = async ({ path }: { readonly path: string }) => void removed.push(path);
    const inspectTarget = async () => (there ? ({ kind: "directory", mountID: 1 } as const) : undefined);
    return { ...all, mounter: { ...all.mounter, removeTarget, inspectTarget } };
  };
  await agent.want(intent());
  expect(agent.mounted).to.deep.equal(["/mnt/a"]);
  return { agent, host, removed, record: () => agent.journal.records.get(name) };
}

describe("what the executor takes down", () => {
  it("is unmounted, written down as not ready before it is, and leaves no directory that was made for it", async () => {
    const { agent, host, removed, record } = await mountedAgent();
    const ready: (boolean | undefined)[] = [];
    host.before = async (call) => {
      if (call.startsWith("unmount /state/")) ready.push(record()?.stage?.ready);
    };
    await agent.want(deleted());
    expect(agent.plan?.volumes.get(name)?.phase).to.equal("released");
    expect([agent.mounted, ready]).to.deep.equal([[], [false]]);
    expect(removed).to.deep.equal(["/mnt/a", `/state/staging/${name}`]);
    await agent.loop.stop();
  });

  it("leaves a directory that was there before", async () => {
    const { agent, removed } = await mountedAgent(true);
    await agent.want(deleted());
    expect(agent.plan?.volumes.get(name)?.phase).to.equal("released");
    expect(removed).to.deep.equal([`/state/staging/${name}`]);
    await agent.loop.stop();
  });

  it("names who keeps it busy, and stays on record as what is being released", async () => {
    const { agent, host, removed, record } = await mountedAgent();
    host.evidence.users = async () => [nginx] as never[];
    host.before = async (call) => {
      if (call === "unmount /mnt/a") throw new VolumeError("TargetBusy", "transient", "EBUSY");
    };
    await agent.want(deleted());
    const [failure] = agent.failures;
    expect(failure?.message).to.contain("pid 70 (nginx)");
    expect(failure?.heldBy).to.deep.equal([70]);
    expect(record()?.revoked).to.equal(true);
    expect(record()?.targets).to.have.length(1);
    expect([agent.mounted, removed]).to.deep.equal([["/mnt/a"], []]);
    await agent.loop.stop();
  });

  it("keeps a directory that a container has mounted on, and names it", async () => {
    const { agent, host, removed } = await mountedAgent();
    host.evidence.mountedOn = async () => [nginx] as never[];
    await agent.want(deleted());
    expect(agent.failures[0]?.reason).to.equal("StillReferenced");
    expect(agent.failures[0]?.message).to.contain("pid 70 (nginx)");
    expect(removed).to.deep.equal([]);
    await agent.loop.stop();
  });

  it("is not unmounted lazily with what others have mounted beneath", async () => {
    const { agent, host } = await mountedAgent();
    const rungs = new Set<string>();
    const effects = host.effects.bind(host);
    host.effects = (): Effects => {
      const all = effects();
      const unmount: Effects["mounter"]["unmount"] = async (_target, _id, unmountMode) => {
        rungs.add(unmountMode);
        throw new VolumeError("TargetBusy", "transient", "EBUSY");
      };
      return { ...all, mounter: { ...all.mounter, unmount } };
    };
    const [mount] = host.entries.filter(({ point }) => point === "/mnt/a");
    if (mount === undefined) throw new Error("not mounted");
    host.entries = [...host.entries, { ...mount, id: 900, parent: mount.id, point: "/mnt/a/b" }];
    const unmountPolicy = { max: "Lazy", timeoutSeconds: 10 } as const;
    await agent.want(intent({ deleting: true, generation: 2, unmountPolicy }));
    for (let minute = 0; minute < 5; minute += 1) {
      await agent.system.advance(60_000);
      await agent.look();
    }
    expect([...rungs]).to.not.include("Lazy");
    expect(agent.failures.at(-1)?.message).to.contain("/mnt/a/b");
    await agent.loop.stop();
  });
});
