import { execFileSync } from "node:child_process";
import { hash } from "node:crypto";
import { mkdirSync, rmdirSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { expect } from "chai";
import { intent } from "../../hack/lib/agent-on-kernel/intent.ts";
import { asVolumeName } from "../../src/agent/model/identities.ts";
import { LeftoverWatch } from "../../src/agent/orphans/leftover-watch.ts";
import { statusOf } from "../../src/agent/status/intent-status.ts";
import { summaryOf } from "../../src/agent/status/volume-summary.ts";
import { LinuxTraces } from "../../src/host/linux/evidence/linux-traces.ts";
import { need } from "../lib/asserts/requirements.ts";
import { loopDevice } from "../lib/kernel/disks/loop-device.ts";
import { RealNode } from "../lib/kernel/real-node.ts";
import { withNode } from "../lib/kernel/with-node.ts";

const name = asVolumeName("node.volume-1");
const uid = "9b1c0ad4-1111-4222-8333-444455556666";

/** Lays out what kubelet and a CSI driver make for one pod, with a tmpfs for the volume: none of the two runs. */
class KubeletStandIn {
  readonly root: string;
  readonly globalmount: string;
  readonly mount: string;
  readonly subPath: string;

  constructor(root: string) {
    this.root = root;
    this.globalmount = `${root}/plugins/kubernetes.io/csi/d.example/${hash("sha256", "vol-1", "hex")}/globalmount`;
    this.mount = `${root}/pods/${uid}/volumes/kubernetes.io~csi/pv-1/mount`;
    this.subPath = `${root}/pods/${uid}/volume-subpaths/pv-1/main/0`;
  }

  stage(): void {
    mkdirSync(this.globalmount, { recursive: true });
    execFileSync("mount", ["-t", "tmpfs", "vol-1", this.globalmount]);
  }

  publish(to = this.mount): void {
    mkdirSync(to, { recursive: true });
    execFileSync("mount", ["--bind", this.globalmount, to]);
  }

  unpublish(): void {
    execFileSync("umount", [this.mount]);
    rmdirSync(this.mount);
    rmdirSync(dirname(this.mount));
  }
}

describe("a volume that kubelet manages, on the real kernel", () => {
  let node: RealNode;
  let kubelet: KubeletStandIn;

  withNode([], (made) => {
    node = made;
    kubelet = new KubeletStandIn(node.pods.kubeletDir);
    const observed = { plugin: "kubernetes.io/csi", volumeName: "pv-1", driver: "d.example", volumeHandle: "vol-1" };
    const pods = [{ uid, namespace: "team", name: "web-0", volume: "data", readOnly: false }];
    const source = { persistentVolumeClaim: { namespace: "team", claimName: "data" } };
    node.want(intent({ mode: "Observe", source, mounts: [], observed, pods }));
  });

  async function said() {
    const plan = await node.volume(name);
    const { ready, reason } = summaryOf(plan);
    const object = { ...intent({ source: { emptyDir: {} }, mounts: [] }), status: {} };
    const status = statusOf(object, plan, { agent: { bootID: "b", epoch: 1 }, now: 0 });
    const [pod] = status.pods ?? [];
    return { words: `${ready} ${reason}`, pod, drift: status.drift?.class, status };
  }

  it("goes from nothing over staged to mounted and back, by the table alone, and nothing of it is touched", async () => {
    expect((await said()).words).to.equal("False WaitingForKubelet");
    expect((await said()).status.inUse).to.equal(false);
    kubelet.stage();
    expect((await said()).status).to.include({ inUse: true, stagingPath: kubelet.globalmount });
    kubelet.publish();
    const before = node.mounts();
    const { words, pod } = await said();
    expect(words).to.equal("True Observing");
    expect(pod).to.include({ state: "Mounted", mountID: String(node.mountAt(kubelet.mount)?.id) });
    node.want();
    await node.converge();
    expect(node.mounts(), "the intent is gone, what is mounted is not").to.deep.equal(before);
    expect(new Set(node.done)).to.deep.equal(new Set(["observe"]));
  });

  it("somebody unmounts it beneath the pod: Missing; kubelet takes it down: not", async () => {
    kubelet.stage();
    kubelet.publish();
    expect((await said()).words).to.equal("True Observing");
    execFileSync("umount", [kubelet.mount]);
    expect((await said()).drift, "a driver may be at it").to.equal(undefined);
    node.ahead += 5_000;
    expect(await said()).to.deep.include({ words: "False Drifted", drift: "Missing" });
    kubelet.publish();
    expect((await said()).words, "mounted anew").to.equal("True Observing");
    kubelet.unpublish();
    node.ahead += 5_000;
    expect(await said()).to.deep.include({ words: "False WaitingForKubelet", drift: undefined });
  });

  it("a part of it that is still bound keeps it in use, and a mount over it is told", async () => {
    kubelet.stage();
    kubelet.publish();
    kubelet.publish(kubelet.subPath);
    execFileSync("mount", ["-t", "tmpfs", "other", kubelet.mount]);
    expect(await said()).to.deep.include({ words: "False Drifted", drift: "Stacked" });
    execFileSync("umount", [kubelet.mount]);
    kubelet.unpublish();
    execFileSync("umount", [kubelet.globalmount]);
    expect((await said()).status.inUse).to.equal(true);
    execFileSync("umount", [kubelet.subPath]);
    node.ahead += 60_000;
    expect((await said()).pod?.state).to.equal("Pending");
  });

  it("what is staged and what a dead pod has is told after a while, and stays as it is", async () => {
    kubelet.stage();
    kubelet.publish();
    node.want();
    let now = 0;
    let live: string[] = [uid];
    const traces = Object.assign(new LinuxTraces("/"), { pods: () => Promise.resolve(new Set(live)) });
    const host = { mountTable: node.host.mountTable, traces, evidence: node.host.evidence };
    const clock = { now: () => now, monotonic: () => now };
    const watch = new LeftoverWatch({ clock, host, kubeletDir: kubelet.root });
    const told = async () => {
      await watch.look(await node.plan());
      now += 150_000;
      return (await watch.look(await node.plan())).orphans.map(({ kind, path }) => `${kind} ${path}`);
    };
    expect(await told(), "the pod runs").to.deep.equal([]);
    live = ["another"];
    expect(await told()).to.deep.equal([`PodMount ${kubelet.mount}`]);
    kubelet.unpublish();
    expect(await told()).to.deep.equal([`Staging ${kubelet.globalmount}`]);
    expect(node.mountAt(kubelet.globalmount)).not.to.equal(undefined);
  });
});

describe("loop devices whose file was removed, on the real kernel", () => {
  let node: RealNode;
  before(function () {
    need(this, "root", "loop-devices");
    node = new RealNode();
  });
  after(() => node?.[Symbol.asyncDispose]());

  it("are found in sysfs, and not while the file is there", async () => {
    const { path } = node.keep(loopDevice(`${node.path}/disks`, "disk", 1));
    const found = async () => (await new LinuxTraces("/").staleLoops()).filter((one) => one.path === path);
    expect(await found()).to.deep.equal([]);
    rmSync(`${node.path}/disks/disk`);
    const [stale] = await found();
    expect(stale).to.deep.include({ backing: `${node.path}/disks/disk` });
    expect(stale?.deviceNumber).to.match(/^7:\d+$/);
  });
});
