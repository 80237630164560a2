import { expect } from "chai";
import type { Plan } from "../../../../src/agent/model/volume-plan.ts";
import { BusyMounts } from "../../../../src/agent/orphans/busy-mounts.ts";
import { MountTable } from "../../../../src/host/mount-table/mount-table.ts";
import type { Holder } from "../../../../src/host/ports/evidence.ts";
import { entry } from "../../../lib/builders/mount-entries.ts";
import { planWorld, wanted } from "../../../lib/builders/plan-world.ts";

const kubeletDir = "/var/lib/kubelet";
const uid = "22222222-0000-4000-8000-000000000002";
const path = `${kubeletDir}/pods/${uid}/volumes/kubernetes.io~csi/pv-1/mount`;
const root = entry({ id: 1, parent: 0, point: "/", device: "8:1", fsType: "ext4" });
const bind = (id = 41) => entry({ id, point: path, device: "7:0", fsType: "xfs", source: "/dev/loop0" });
const sleeper: Holder = { pid: 4711, command: "sleep", mountPoint: path, use: "cwd" } as never;

/** An Observe intent that names the pod, which has it mounted. */
function named(mounts = [bind()]): Plan {
  const observed = { plugin: "kubernetes.io/csi", volumeName: "pv-1", driver: "d.example", volumeHandle: "h" };
  const pods = [{ uid, namespace: "shop", name: "db-0", volume: "data", readOnly: false }];
  const source = { persistentVolumeClaim: { namespace: "shop", claimName: "c" } };
  const settings = { allowedPrefixes: ["/mnt"], stateDir: "/state", hostRoot: "/", csiDir: "/csi", kubeletDir };
  const intents = [wanted({ mode: "Observe", source, mounts: [], observed, pods })];
  return planWorld({ intents, mounts, input: { settings } });
}

describe("mounts of ended pods that a process keeps", () => {
  const state = { now: 0, users: [sleeper] as readonly Holder[], asked: 0 };
  let busy: BusyMounts;
  beforeEach(() => {
    Object.assign(state, { now: 1_000_000, users: [sleeper], asked: 0 });
    const clock = { now: () => state.now, monotonic: () => state.now };
    busy = new BusyMounts({
      clock: clock as never,
      users: () => {
        state.asked += 1;
        return Promise.resolve(state.users);
      },
    });
  });
  const look = (plan: Plan, mounts = [bind()]) => busy.look(plan, new MountTable([root, ...mounts]));

  /** A while after its intent has let it go. */
  async function later(mounts = [bind()]) {
    await look(named());
    await look(planWorld({}), mounts);
    state.now += 10_000;
    return look(planWorld({}), mounts);
  }

  it("name the pod and the process, since the pod is not named any more", async () => {
    expect(await look(named())).to.deep.equal({ busy: [] });
    state.now += 5_000;
    expect(await look(planWorld({})), "kubelet may just be at it").to.deep.equal({ busy: [], againInMs: 10_000 });
    state.now += 10_000;
    const { busy: found, againInMs } = await look(planWorld({}));
    expect(found).to.have.lengthOf(1);
    expect(found[0]).to.deep.include({ kind: "PodMount", reason: "TargetBusy", mountID: 41, path, since: 1_005_000 });
    expect(found[0]?.message).to.contain("shop/db-0").and.to.contain("pid 4711").and.to.contain("sleep");
    expect(found[0]?.remedy).to.contain("kubelet retries");
    expect(againInMs, "it is asked again").to.equal(10_000);
  });

  it("are known of a plan that no look has seen", async () => {
    busy.note(named());
    await look(planWorld({}));
    state.now += 10_000;
    expect((await look(planWorld({}))).busy).to.have.lengthOf(1);
  });

  it("are none while an intent names the pod, or when the mount is gone, or is another one", async () => {
    await look(named());
    state.now += 60_000;
    expect((await look(named())).busy).to.deep.equal([]);
    expect((await later([])).busy).to.deep.equal([]);
    expect((await later([bind(99)])).busy).to.deep.equal([]);
    expect(state.asked).to.equal(0);
  });

  it("are none that nobody uses, or that a container of the pod itself uses", async () => {
    state.users = [];
    expect((await later()).busy).to.deep.equal([]);
    state.users = [{ ...sleeper, pod: uid } as never];
    expect((await later()).busy).to.deep.equal([]);
    expect(state.asked).to.equal(2);
  });
});
