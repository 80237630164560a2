import { expect } from "chai";
import type { Plan } from "../../../../src/agent/model/volume-plan.ts";
import { leftovers } from "../../../../src/agent/orphans/kubelet-orphans.ts";
import { LeftoverWatch } from "../../../../src/agent/orphans/leftover-watch.ts";
import { MountTable } from "../../../../src/host/mount-table/mount-table.ts";
import type { MountEntry } from "../../../../src/host/mount-table/mountinfo.ts";
import type { StaleLoop, Traces } from "../../../../src/host/ports/evidence.ts";
import { entry } from "../../../lib/builders/mount-entries.ts";
import { planWorld, wanted } from "../../../lib/builders/plan-world.ts";

const kubeletDir = "/var/lib/kubelet";
const csi = `${kubeletDir}/plugins/kubernetes.io/csi`;
const [live, dead] = ["11111111-0000-4000-8000-000000000001", "22222222-0000-4000-8000-000000000002"];
const root = entry({ id: 1, parent: 0, point: "/", device: "8:1", fsType: "ext4" });
const disk = { device: "7:0", fsType: "ext4", source: "/dev/loop0" };
const globalmount = entry({ id: 40, point: `${csi}/d.example/abc/globalmount`, ...disk });
const bind = (uid: string, more: Partial<MountEntry> = {}) =>
  entry({ id: 41, point: `${kubeletDir}/pods/${uid}/volumes/kubernetes.io~csi/pv-1/mount`, ...disk, ...more });

interface World {
  readonly mounts?: readonly MountEntry[];
  readonly plan?: Plan;
  readonly pods?: ReadonlySet<string> | undefined;
  readonly loops?: readonly StaleLoop[];
}

function left({ mounts = [], plan = planWorld({}), loops = [], ...rest }: World) {
  const pods = "pods" in rest ? rest.pods : new Set([live]);
  const table = new MountTable([root, ...mounts]);
  return leftovers({ table, kubeletDir, volumes: plan.volumes.values(), pods, loops });
}

const told = (world: World) => left(world).map(({ kind, path }) => `${kind} ${path}`);

/** An Observe intent that names one pod. */
function planOf(uid: string): Plan {
  const observed = { plugin: "kubernetes.io/csi", volumeName: "pv-1", driver: "d.example", volumeHandle: "h" };
  const pods = [{ uid, namespace: "a", name: "p", volume: "data", readOnly: false }];
  const source = { persistentVolumeClaim: { namespace: "a", claimName: "c" } };
  const settings = { allowedPrefixes: ["/mnt"], stateDir: "/state", hostRoot: "/", csiDir: "/csi", kubeletDir };
  return planWorld({ intents: [wanted({ mode: "Observe", source, mounts: [], observed, pods })], input: { settings } });
}

describe("what kubelet has left on a node", () => {
  it("is each mount of a pod that has no cgroup and that no intent names, whatever its kind", () => {
    const token = entry({
      id: 42,
      point: `${kubeletDir}/pods/${dead}/volumes/kubernetes.io~projected/kube-api-access`,
    });
    const part = entry({ id: 43, point: `${kubeletDir}/pods/${dead}/volume-subpaths/pv-1/main/0`, ...disk });
    const [mount, ...others] = left({ mounts: [globalmount, bind(dead), token, part, bind(live)] });
    expect(others.map(({ mountID }) => mountID)).to.deep.equal([42, 43]);
    expect(mount).to.deep.include({
      kind: "PodMount",
      reason: "LeftByKubelet",
      mountID: 41,
      source: "ext4 (/dev/loop0)",
    });
    expect(mount?.message).to.contain(dead);
    expect(mount?.remedy).to.match(/^umount '\/var\/lib\/kubelet\/pods/);
    expect(told({ mounts: [bind(dead)], plan: planOf(dead) }), "an intent has it").to.deep.equal([]);
  });

  it("is no pod's mount where no cgroup of any pod is seen: nothing proves then that one is gone", () => {
    expect(told({ mounts: [bind(dead)], pods: undefined })).to.deep.equal([]);
  });

  it("is a volume that is staged and that no pod has: kubelet never finds it (behaviour 45)", () => {
    expect(told({ mounts: [globalmount] })).to.deep.equal([`Staging ${globalmount.point}`]);
    expect(told({ mounts: [globalmount, bind(live)] }), "a pod has it").to.deep.equal([]);
    const old = entry({ id: 44, point: `${csi}/pv/pv-1/globalmount`, ...disk });
    expect(told({ mounts: [old], plan: planOf(live) }), "a pod waits for it").to.deep.equal([]);
    expect(told({ mounts: [old] })).to.deep.equal([`Staging ${old.point}`]);
  });

  it("of block volumes is what is published or bound for a pod that is gone, and what is staged", () => {
    const devices = `${csi}/volumeDevices`;
    const device = { device: "0:6", fsType: "devtmpfs", source: "devtmpfs", root: "/loop0" };
    const published = entry({ id: 50, point: `${devices}/publish/pv-1/${dead}`, ...device });
    const map = entry({ id: 51, point: `${devices}/pv-1/dev/${dead}`, ...device });
    const staged = entry({ id: 52, point: `${devices}/staging/pv-2`, device: "0:7" });
    expect(left({ mounts: [published, map, staged] }).map(({ mountID }) => mountID)).to.deep.equal([50, 51, 52]);
  });

  it("is nothing of other plugins, of ours, or of what drivers mount elsewhere", () => {
    const points = [
      `${kubeletDir}/plugins/nodevolume.dev/x/staging`,
      `${kubeletDir}/plugins/d.example/cache`,
      "/mnt/x",
    ];
    expect(told({ mounts: points.map((point, i) => entry({ id: 60 + i, point, ...disk })) })).to.deep.equal([]);
  });

  it("is a loop device whose file was removed, unless it is mounted", () => {
    const loop = { path: "/dev/loop7", deviceNumber: "7:7", backing: "/var/x.img" };
    const [found] = left({ loops: [loop] });
    expect(found).to.deep.include({ kind: "LoopDevice", path: "/dev/loop7", source: "/var/x.img" });
    expect(found?.remedy).to.contain("losetup -d /dev/loop7");
    expect(left({ loops: [loop], mounts: [entry({ id: 70, point: "/mnt/x", device: "7:7" })] })).to.deep.equal([]);
  });
});

describe("LeftoverWatch", () => {
  const source = (mounts: readonly MountEntry[]) => {
    const table = new MountTable([root, ...mounts]);
    return { read: () => Promise.resolve(table), watch: () => () => {} };
  };
  function watchOf(state: { mounts: readonly MountEntry[]; now: number; pods?: ReadonlySet<string> }) {
    const traces: Traces = {
      pods: () => Promise.resolve(state.pods ?? new Set([live])),
      staleLoops: () => Promise.resolve([]),
      stagedVolume: async () => undefined,
      shownApart: async () => [],
    };
    const host = {
      get mountTable() {
        return source(state.mounts);
      },
      traces,
    };
    const clock = { now: () => state.now, monotonic: () => state.now };
    return new LeftoverWatch({ clock, host: host as never, kubeletDir });
  }

  it("tells only of what has lasted, with since when, and when to look again", async () => {
    const state = { mounts: [bind(dead)], now: 1_000_000 };
    const watch = watchOf(state);
    expect(await watch.look(planWorld({}))).to.deep.equal({ orphans: [], againInMs: 150_000 });
    state.now += 100_000;
    expect((await watch.look(planWorld({}))).againInMs).to.equal(50_000);
    state.now += 50_000;
    const { orphans, againInMs } = await watch.look(planWorld({}));
    expect(againInMs).to.equal(undefined);
    expect(orphans.map(({ since }) => since)).to.deep.equal(["1970-01-01T00:16:40Z"]);
  });

  it("counts anew for another mount on the same path: a pod may have had it in between", async () => {
    const state = { mounts: [bind(dead)], now: 0 };
    const watch = watchOf(state);
    await watch.look(planWorld({}));
    state.now = 200_000;
    state.mounts = [bind(dead, { id: 99 })];
    expect((await watch.look(planWorld({}))).orphans).to.deep.equal([]);
  });
});
