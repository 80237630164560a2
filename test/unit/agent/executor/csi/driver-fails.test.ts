import { expect } from "chai";
import { asVolumeName } from "../../../../../src/agent/model/identities.ts";
import type { CSIDrivers, NodeService } from "../../../../../src/csi/ports.ts";
import { VolumeError } from "../../../../../src/errors.ts";
import { entry } from "../../../../lib/builders/mount-entries.ts";
import { wanted } from "../../../../lib/builders/plan-world.ts";
import { FakeAgent } from "../../fake-agent.ts";

const source = { csi: { driver: "a.example", volumeHandle: "v" } };
const csi = { ...source.csi, accessMode: "ReadWriteOnce" as const };
const first = asVolumeName("node.volume-1");
/** Longer than any target waits for the next publish. */
const aMinute = 76_000;

type Call = "stage" | "unstage" | "publish" | "unpublish";

/** An agent with a driver in memory, which mounts on the fake host. */
class DriverWorld {
  readonly agent: FakeAgent;
  /** Each call, in order. */
  readonly calls: Call[] = [];
  stageUnstage = true;
  /** What a call does instead of what it should; what it throws, the driver answers. */
  instead: { [C in Call]?: (path: string) => void } = {};
  #ids = 1000;

  private constructor(agent: FakeAgent) {
    this.agent = agent;
    const node = this.#node as NodeService;
    const driver = { name: csi.driver, endpoint: "/a.sock", node };
    const drivers: CSIDrivers = { driver: () => driver, names: () => [csi.driver], subscribe: () => () => {} };
    agent.drivers = drivers;
  }

  static async start(settings: Parameters<typeof FakeAgent.start>[0] = {}): Promise<DriverWorld> {
    return new DriverWorld(await FakeAgent.start(settings));
  }

  intent(more: object = {}, of: object = {}) {
    return wanted({ source, grant: { id: "g", csi: { ...csi, ...of } }, mounts: [{ path: "/mnt/a" }], ...more });
  }

  async want(more: object = {}, of: object = {}): Promise<void> {
    await this.agent.want(this.intent(more, of));
    for (let i = 0; i < 4; i += 1) await this.agent.look();
  }

  mount(...points: readonly string[]): void {
    const { host } = this.agent;
    const mounts = points.map((point) => entry({ id: ++this.#ids, point, device: "0:77", source: "vol" }));
    host.entries = [...host.entries, ...mounts];
  }

  /** Identifiers of all mounts of the volume. */
  get ids(): number[] {
    return this.agent.host.entries.map(({ id }) => id).filter((id) => id !== 1);
  }

  get reasons(): string[] {
    return this.agent.failures.map(({ reason }) => reason);
  }

  get phase(): string | undefined {
    return this.agent.plan?.volumes.get(first)?.phase;
  }

  readonly #node: Partial<NodeService> = {
    capabilities: async () => ({
      stageUnstage: this.stageUnstage,
      expand: false,
      stats: false,
      volumeMountGroup: false,
      singleNodeMultiWriter: false,
      volumeCondition: false,
    }),
    stage: async ({ stagingPath }) => this.#called("stage", stagingPath),
    unstage: async ({ stagingPath }) => this.#called("unstage", stagingPath),
    publish: async ({ targetPath }) => this.#called("publish", targetPath),
    unpublish: async ({ targetPath }) => this.#called("unpublish", targetPath),
  };

  #called(call: Call, path: string): void {
    this.calls.push(call);
    const isThere = this.agent.host.entries.some(({ point }) => point === path);
    const { [call]: other } = this.instead;
    if (other !== undefined) other(path);
    else if (call.startsWith("un")) this.agent.host.unmountAt(path);
    else if (!isThere) this.mount(path);
  }
}

const refusal = () => {
  throw new VolumeError("DriverFailed", "final", "not today");
};

describe("a CSI driver", () => {
  let there: DriverWorld;
  beforeEach(async () => {
    there = await DriverWorld.start();
  });
  afterEach(() => there.agent.loop.stop());

  it("whose repeated publish fails leaves what is mounted (kubelet's bug 121271)", async () => {
    await there.want({}, { requiresRepublish: true });
    const before = there.ids;
    expect([before.length, there.agent.mounted]).to.deep.equal([3, ["/mnt/a"]]);
    there.instead = { publish: refusal };
    await there.agent.system.advance(aMinute);
    await there.agent.look();
    expect(there.reasons).to.include("DriverFailed");
    expect(there.ids).to.deep.equal(before);
  });

  it("that mounts over its own when it is called again loses that, and is named", async () => {
    await there.want({}, { requiresRepublish: true });
    const before = there.ids;
    there.instead = { publish: (path) => there.mount(path) };
    await there.agent.system.advance(aMinute);
    await there.agent.look();
    expect(there.reasons).to.include("DriverReplyFalse");
    expect(there.ids).to.deep.equal(before);
  });

  for (const [what, instead] of [
    ["stages twice over", { stage: (path: string) => there.mount(path, path) }],
    ["publishes nothing", { publish: () => {} }],
  ] as const) {
    it(`that says OK and ${what} is not believed`, async () => {
      there.instead = instead;
      await there.want();
      expect(there.reasons[0]).to.equal("DriverReplyFalse");
      expect(there.agent.mounted).to.deep.equal([]);
    });
  }

  for (const call of ["unpublish", "unstage"] as const) {
    it(`that says OK to ${call} and leaves its mount has not released the volume`, async () => {
      await there.want();
      there.instead = { [call]: () => {} };
      await there.want({ deleting: true, generation: 2 });
      expect(there.reasons[0]).to.equal("DriverReplyFalse");
      expect(there.phase).not.to.equal("released");
      expect(there.calls.includes("unstage")).to.equal(call === "unstage");
      there.instead = {};
      await there.agent.system.advance(aMinute);
      await there.agent.look();
      expect(there.phase).to.equal("released");
    });
  }

  for (const call of ["stage", "publish"] as const) {
    it(`that did not answer ${call} in time may mount yet: the volume is not released before that is over`, async () => {
      there.instead = {
        [call]: () => {
          throw new VolumeError("TimedOut", "uncertain", "no answer in time");
        },
      };
      await there.want();
      await there.want({ deleting: true, generation: 2 });
      expect([there.reasons.at(-1), there.phase]).to.deep.equal(["DriverMayStillAct", "tearDown"]);
      expect(there.calls.includes("unstage"), "a target is on record until then").to.equal(call === "stage");
      for (let minute = 0; minute < 5; minute += 1) {
        await there.agent.system.advance(60_000);
        await there.agent.look();
      }
      expect(there.phase).to.equal("released");
    });
  }

  it("has not released what a container has mounted", async () => {
    await there.want();
    there.agent.host.holders = [{ pid: 70, command: "nginx", mountPoint: "/data" }];
    await there.want({ deleting: true, generation: 2 });
    expect(there.phase).to.equal("tearDown");
    expect(there.agent.failures[0]?.message).to.contain("pid 70 (nginx)");
  });

  it("is asked to unstage what somebody else has unmounted", async () => {
    await there.want();
    there.agent.host.entries = there.agent.host.entries.slice(0, 1);
    await there.want({ deleting: true, generation: 2 });
    expect(there.calls.at(-1)).to.equal("unstage");
    expect(there.phase).to.equal("released");
  });

  it("has one intent a volume: another one has to wait", async () => {
    await there.want();
    const other = there.intent({ name: "node.volume-2", mounts: [{ path: "/mnt/b" }] });
    await there.agent.want(there.intent(), other);
    expect(there.reasons).to.deep.equal(["VolumeHeldElsewhere"]);
    expect(there.calls).to.deep.equal(["stage", "publish"]);
  });

  it("that refuses to publish, and has staged without a mount, is asked to stage again", async () => {
    there.instead = { stage: () => {}, publish: refusal };
    await there.want();
    there.instead = { stage: () => {} };
    await there.agent.system.advance(aMinute);
    await there.agent.look();
    expect(there.calls.slice(0, 4)).to.deep.equal(["stage", "publish", "stage", "publish"]);
    expect(there.agent.mounted).to.deep.equal(["/mnt/a"]);
  });

  it("of which a newer version does not unstage any more may refuse to, if nothing is left", async () => {
    await there.want();
    there.stageUnstage = false;
    there.instead = {
      unstage(path) {
        there.agent.host.unmountAt(path);
        refusal();
      },
    };
    await there.want({ deleting: true, generation: 2 });
    expect([there.phase, there.reasons]).to.deep.equal(["released", []]);
    expect(there.calls).to.include("unstage");
  });

  it("of which a newer version does not stage any more unstages what the one before has staged", async () => {
    const publish = () => {
      there.stageUnstage = false;
      refusal();
    };
    there.instead = { publish, stage: () => {} };
    await there.want();
    there.instead = {};
    await there.agent.system.advance(aMinute);
    await there.agent.look();
    expect(there.calls).to.deep.equal(["stage", "publish", "publish"]);
    expect(there.agent.mounted).to.deep.equal(["/mnt/a"]);
    await there.want({ deleting: true, generation: 2 });
    expect(there.calls.at(-1)).to.equal("unstage");
    expect(there.phase).to.equal("released");
  });

  it("that attaches is not begun with where nothing attaches", async () => {
    const attached = { grant: { id: "g", csi, volumeAttachment: { name: "va", uid: "u" } } };
    await there.want(attached);
    expect(there.calls).to.deep.equal(["stage", "publish"]);
    await there.agent.loop.stop();
    there = await DriverWorld.start({ controllerAttachDetach: false });
    await there.want(attached);
    expect([there.calls, there.reasons[0]]).to.deep.equal([[], "AttachNotManaged"]);
    await there.want({ generation: 2 });
    expect(there.calls, "no attachment is needed any more").to.deep.equal(["stage", "publish"]);
  });
});
