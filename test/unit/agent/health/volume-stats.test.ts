import { expect } from "chai";
import { Registry } from "prom-client";
import { type PolledVolume, polledVolume } from "../../../../src/agent/health/polled-volume.ts";
import { VolumeStatsPoller } from "../../../../src/agent/health/volume-stats.ts";
import { registerVolumeStatsMetrics } from "../../../../src/agent/metrics/volume-stats-metrics.ts";
import { asVolumeName, type VolumeName } from "../../../../src/agent/model/identities.ts";
import type { VolumePlan } from "../../../../src/agent/model/volume-plan.ts";
import type { NodeService, RegisteredDriver, StatsRequest, VolumeStats } from "../../../../src/csi/ports.ts";
import { settle, virtualSystem } from "../../kube/virtual-system.ts";

const usage = [
  { unit: "BYTES", total: "100", available: "60", used: "40" },
  { unit: "INODES", total: "10", available: "7", used: "3" },
] as const;

/** A plan of a volume that its driver has published; `path` is where. */
function planned(name: string, more: { driver?: string; path?: string; claim?: boolean; phase?: string } = {}) {
  const { driver = "a.example", path = `/csi/${name}/mounts/x`, claim = false, phase = "setUp" } = more;
  const of = { namespace: "default", claimName: `claim-${name}` };
  const source = claim ? { persistentVolumeClaim: of } : { csi: { driver, volumeHandle: name } };
  const record = { path: `/csi/${name}/staging`, csi: { driver, volumeHandle: name } };
  const target = { published: "there", record: { published: { path, readOnly: false } } };
  return {
    name,
    phase,
    desired: { spec: { source } },
    actualState: { stage: { record }, targets: [target] },
  } as unknown as VolumePlan;
}

describe("VolumeStatsPoller (kubelet behaviour 118)", () => {
  const capabilities = { stageUnstage: true, stats: true, volumeCondition: true };
  let system: ReturnType<typeof virtualSystem>;
  let asked: (StatsRequest & { readonly driver: string })[];
  let answer: (request: StatsRequest) => Promise<VolumeStats>;
  let has: object;
  let told: number;
  let poller: VolumeStatsPoller;
  let registry: Registry;
  const volumes = new Map<VolumeName, VolumePlan>();

  beforeEach(() => {
    system = virtualSystem();
    [asked, told, has] = [[], 0, capabilities];
    volumes.clear();
    answer = async () => ({ usage, condition: undefined });
    const driver = (name: string) => {
      const stats = (request: StatsRequest) => {
        asked.push({ ...request, driver: name });
        return answer(request);
      };
      return { name, node: { capabilities: async () => has, stats } as unknown as NodeService } as RegisteredDriver;
    };
    poller = new VolumeStatsPoller({ system, drivers: { driver }, onHealth: () => (told += 1) });
    registry = new Registry();
    registerVolumeStatsMetrics(registry, () => poller.polled());
  });
  afterEach(() => poller.stop());

  function show(...plans: readonly VolumePlan[]): void {
    const changed = new Map(
      [...volumes, ...plans.map((plan) => [plan.name, plan] as const)].map(([name]) => [name, undefined]),
    );
    volumes.clear();
    for (const plan of plans) volumes.set(plan.name, plan);
    poller.planned({ changed, volumes });
  }
  const samples = async () => {
    const lines = (await registry.metrics()).split("\n").filter((line) => /^(kubelet|nodevolume)_/.test(line));
    return lines.sort();
  };

  it("asks about once a minute, by the path where it is published, and shows a claim as kubelet does", async () => {
    show(planned("v", { claim: true }));
    await system.advance(10_000);
    expect(asked).to.deep.equal([
      { driver: "a.example", volumeID: "v", volumePath: "/csi/v/mounts/x", stagingPath: "/csi/v/staging" },
    ]);
    const labels = '{namespace="default",persistentvolumeclaim="claim-v"}';
    expect(await samples()).to.have.members([
      `kubelet_volume_stats_available_bytes${labels} 60`,
      `kubelet_volume_stats_capacity_bytes${labels} 100`,
      `kubelet_volume_stats_inodes${labels} 10`,
      `kubelet_volume_stats_inodes_free${labels} 7`,
      `kubelet_volume_stats_inodes_used${labels} 3`,
      `kubelet_volume_stats_used_bytes${labels} 40`,
    ]);
    await system.advance(600_000);
    expect(asked.length).to.be.within(8, 15);
  });

  it("shows a volume without a claim by its intent, and nothing of one that has gone or fails", async () => {
    show(planned("v"), planned("w"));
    await system.advance(10_000);
    const shown = async () => (await samples()).filter((line) => line.includes("used_bytes"));
    const of = (name: string) => `nodevolume_volume_stats_used_bytes{intent="${name}"} 40`;
    expect(await shown()).to.deep.equal([of("v"), of("w")]);
    show(planned("w"));
    expect(await shown()).to.deep.equal([of("w")]);
    answer = () => Promise.reject(new Error("no"));
    await system.advance(75_000);
    expect(await shown()).to.deep.equal([]);
    const calls = asked.length;
    show();
    await system.advance(300_000);
    expect(asked.length).to.equal(calls);
  });

  it("a driver that hangs has two questions, and delays no other driver", async () => {
    answer = ({ volumeID }) =>
      volumeID.startsWith("hung") ? new Promise(() => {}) : Promise.resolve({ usage, condition: undefined });
    show(
      ...["hung-1", "hung-2", "hung-3", "hung-4"].map((name) => planned(name)),
      planned("free", { driver: "b.example" }),
    );
    await system.advance(200_000);
    expect(asked.filter(({ driver }) => driver === "a.example")).to.have.lengthOf(2);
    expect(asked.filter(({ driver }) => driver === "b.example").length).to.be.at.least(2);
  });

  it("an answer that comes after the volume has gone is nobody's", async () => {
    let late: (stats: VolumeStats) => void = () => {};
    answer = () => new Promise((resolve) => (late = resolve));
    show(planned("v"));
    await system.advance(10_000);
    show(planned("v", { path: "/csi/v/mounts/y" }));
    late({ usage, condition: { abnormal: true, message: "old" } });
    await settle();
    expect([await samples(), poller.health.size]).to.deep.equal([[], 0]);
  });

  it("asks no driver without GET_VOLUME_STATS, and believes no condition without VOLUME_CONDITION", async () => {
    has = { ...capabilities, stats: false };
    show(planned("v"));
    await system.advance(100_000);
    expect(asked).to.deep.equal([]);
    has = { ...capabilities, volumeCondition: false };
    answer = async () => ({ usage, condition: { abnormal: true, message: "x" } });
    await system.advance(100_000);
    expect([asked.length > 0, poller.health.size]).to.deep.equal([true, 0]);
  });

  it("tells of another condition once, and of none that is as before", async () => {
    const condition = (abnormal: boolean) => async () => ({
      usage,
      condition: { abnormal, message: abnormal ? "disk" : "" },
    });
    answer = condition(true);
    show(planned("v", { claim: true }));
    await system.advance(300_000);
    const first = poller.health.get(asVolumeName("v"));
    expect([told, first]).to.deep.equal([1, { abnormal: true, message: "disk" }]);
    expect((await samples()).find((line) => line.includes("abnormal"))).to.match(/_health_status_abnormal\{.*\} 1$/);
    answer = condition(false);
    await system.advance(80_000);
    expect([told, poller.health.get(asVolumeName("v"))?.abnormal]).to.deep.equal([2, false]);
    show();
    expect([told, poller.health.size]).to.deep.equal([3, 0]);
  });
});

describe("polledVolume", () => {
  it("is none of what is not published, is to go, or is not of a driver", () => {
    const whole = planned("v");
    expect(polledVolume(whole)).to.include({ driver: "a.example" } satisfies Partial<PolledVolume>);
    expect(polledVolume({ ...whole, phase: "tearDown" })).to.equal(undefined);
    expect(polledVolume({ ...whole, actualState: { ...whole.actualState, targets: [] } })).to.equal(undefined);
    expect(polledVolume({ ...whole, actualState: { ...whole.actualState, stage: { truth: "mounted" } } })).to.equal(
      undefined,
    );
  });
});
