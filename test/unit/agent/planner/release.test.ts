import { expect } from "chai";
import { asVolumeName } from "../../../../src/agent/model/identities.ts";
import { wanted } from "../../../lib/builders/plan-world.ts";
import { FakeAgent } from "../fake-agent.ts";

const container = { pid: 70, command: "nginx", mountPoint: "/data" };
const kubelet = { pid: 1, command: "systemd", mountPoint: "/var/lib/kubelet/pods/x/mount", onNode: true };
const exported = { nfs: { server: "srv", path: "/x" } };
const memory = { emptyDir: { medium: "Memory" } } as const;

/** Where a volume stands that is released while others have it mounted. */
async function released(source: typeof exported | typeof memory, holders: FakeAgent["host"]["holders"]) {
  const agent = await FakeAgent.start();
  const intent = (more: object = {}) => wanted({ source, mounts: [{ path: "/mnt/a" }], ...more });
  await agent.want(intent());
  expect(agent.mounted).to.deep.equal(["/mnt/a"]);
  agent.host.holders = holders;
  await agent.want(intent({ deleting: true, generation: 2 }));
  const volume = agent.plan?.volumes.get(asVolumeName("node.volume-1"));
  await agent.loop.stop();
  return { phase: volume?.phase, message: volume?.failure?.message };
}

describe("the release of a file system that others have mounted", () => {
  it("waits for a container that still has it", async () => {
    for (const source of [exported, memory]) {
      const { phase, message } = await released(source, [container]);
      expect(phase).to.equal("tearDown");
      expect(message).to.contain("pid 70 (nginx)");
    }
  });

  it("an export that the node has in its own right is not waited for, nor what containers have of that", async () => {
    expect((await released(exported, [kubelet, container])).phase).to.equal("released");
  });

  it("any other file system is, and the mount is named, not process 1", async () => {
    const { phase, message } = await released(memory, [kubelet]);
    expect(phase).to.equal("tearDown");
    expect(message).to.contain(kubelet.mountPoint).and.not.to.contain("systemd");
  });
});
