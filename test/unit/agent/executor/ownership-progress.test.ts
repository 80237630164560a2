import { expect } from "chai";
import { noDrivers } from "../../../../hack/lib/no-drivers.ts";
import { asVolumeName } from "../../../../src/agent/model/identities.ts";
import type { VolumePlan } from "../../../../src/agent/model/volume-plan.ts";
import { statusOf } from "../../../../src/agent/status/intent-status.ts";
import { transitions } from "../../../../src/agent/status/transitions.ts";
import type { NodeCapabilities, NodeService } from "../../../../src/csi/ports.ts";
import { entry } from "../../../lib/builders/mount-entries.ts";
import { wanted } from "../../../lib/builders/plan-world.ts";
import { FakeAgent, held } from "../fake-agent.ts";

const name = asVolumeName("node.volume-1");
const source = { csi: { driver: "a.example", volumeHandle: "v" } };
const grant = { id: "g", csi: { ...source.csi, accessMode: "ReadWriteOnce" as const, supportsFSGroup: true } };

describe("files that take long to be given to a group (behaviour 76)", () => {
  it("are told of after 30 s and then each minute, by event and status, and no more when it is done", async () => {
    const agent = await FakeAgent.start();
    const { host, system } = agent;
    const walk = held();
    let reached: (entries: number) => void = () => {};
    const effects = host.effects.bind(host);
    host.effects = () => ({
      ...effects(),
      ownership: {
        async give(_request, onProgress) {
          reached = onProgress;
          await walk.promise;
          return { entries: 9_000, failed: 0, examples: [] };
        },
      },
    });
    const node = {
      capabilities: async () => ({ stageUnstage: false }) as NodeCapabilities,
      publish: async ({ targetPath }) => {
        host.entries = [...host.entries, entry({ id: 900, point: targetPath, device: "0:90" })];
      },
    } as Partial<NodeService> as NodeService;
    agent.drivers = { ...noDrivers, driver: () => ({ name: "a.example", endpoint: "/a.sock", node }) };
    const intent = wanted({ name, source, grant, mounts: [{ path: "/mnt/a", fsGroup: 2000 }] });
    await agent.want(intent);

    let before: VolumePlan | undefined;
    const events = () => {
      const plan = agent.plan ?? expect.fail("no plan");
      const found = transitions(true, { ...plan, changed: new Map([[name, before]]) });
      before = plan.volumes.get(name);
      return found.map(({ type, reason, message }) => [type, reason, /[0-9]+ so far/.exec(message)?.[0]].join(" "));
    };
    const wait = async (ms: number) => {
      await system.advance(ms);
      await agent.look();
      return events();
    };

    reached(10);
    expect(await wait(29_900)).to.deep.equal([]);
    expect(agent.mounted, "nobody sees the files before").to.deep.equal([]);
    expect(await wait(200)).to.deep.equal(["Warning VolumePermissionChangeInProgress 10 so far"]);
    const volume = agent.plan?.volumes.get(name) ?? expect.fail("not planned");
    const status = statusOf(intent, volume, { agent: { bootID: "b", epoch: 1 }, now: 0 });
    expect(status.waiting?.reason).to.equal("VolumePermissionChangeInProgress");
    expect(status.waiting?.message).to.contain("/mnt/a").and.to.contain("group 2000").and.to.contain("OnRootMismatch");
    reached(5_000);
    expect(await wait(30_000)).to.deep.equal([]);
    expect(await wait(30_000)).to.deep.equal(["Warning VolumePermissionChangeInProgress 5000 so far"]);
    expect(await wait(60_000)).to.deep.equal([]);
    reached(8_000);
    expect(await wait(60_000)).to.deep.equal(["Warning VolumePermissionChangeInProgress 8000 so far"]);
    walk.release();
    expect(await wait(60_000)).to.deep.equal(["Normal Mounted "]);
    expect(agent.mounted).to.deep.equal(["/mnt/a"]);
    expect(await wait(120_000)).to.deep.equal([]);
    await agent.loop.stop();
  });
});
