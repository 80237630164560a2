// Why a volume that kubelet manages does not come, or does not go, as kubectl nvi explains it, beside a real kubelet.
import { join } from "node:path";
import { expect } from "chai";
import { FuseServer } from "../../hack/lib/agent-on-kernel/fuse/fuse-server.ts";
import { loopXfsName } from "../../hack/lib/csi/driver.ts";
import { FakeKubelet } from "../../hack/lib/csi/fake-kubelet.ts";
import { slowSuite } from "../../hack/lib/lanes/slow.ts";
import { createNodeObject } from "../../hack/lib/pretend-node/object.ts";
import { until } from "../../hack/lib/until.ts";
import { orderFaults } from "../drivers/lib/faults.ts";
import { need } from "../lib/asserts/requirements.ts";
import { endSuite } from "../lib/cluster/kubelet-world.ts";
import { claimsPath, patience, type TruthWorld, truthWorld } from "../lib/cluster/truth-world.ts";
import { attachments } from "../lib/csi/csi-claims.ts";

interface Attachment {
  readonly spec: { readonly source: { readonly persistentVolumeName?: string } };
}

slowSuite("kubectl nvi explain of volumes that kubelet manages", () => {
  let world: TruthWorld;

  before(async function () {
    this.timeout(4 * patience);
    world = await truthWorld(this);
  });
  after(async function () {
    this.timeout(6 * patience);
    // No kubelet says of it that it has ended.
    await world?.forget("holder");
    await world?.left();
    await endSuite(this, world);
  });

  it("names a claim that is not bound", async () => {
    await world.world.objects.claim("unbound", { storageClass: "no-such-class" });
    await world.start("unbound", "unbound");
    const words = [/claim default\/unbound is not bound: there is no StorageClass no-such-class/, /for \d+m?s/];
    await world.explained("pod/unbound", patience, ...words, /ClaimNotBound/, /no node was found/);
    await world.explained("pvc/unbound", patience, ...words);
    await world.leave(["unbound"], `${claimsPath}/unbound`);
  });

  it("names a driver that is not registered", async () => {
    const { objects } = world.world;
    await objects.csiDriver("absent.example", { attachRequired: false });
    await objects.volume("of-absent", "absent.example", "vol-1", { storageClassName: "by-hand" });
    await objects.claim("absent", { storageClass: "by-hand" });
    await objects.bound("absent");
    await world.start("absent", "absent");
    const said = await world.explained(
      "pod/absent",
      patience,
      /CSI driver absent\.example is not registered on 127\.0\.0\.1: there are .*hostpath/,
      /DriverNotRegistered/,
      /node-driver-registrar/,
    );
    expect(said).to.include("is bound to PersistentVolume of-absent");
    await world.leave(["absent"], `${claimsPath}/absent`, "/api/v1/persistentvolumes/of-absent");
  });

  it("names an attachment that the driver refuses", async function () {
    this.timeout(4 * patience);
    const claim = await world.claim("refused", loopXfsName);
    const { control } = world.world.storage;
    const message = "the array has no port left";
    const fault = { kind: "code", when: "before", code: "INTERNAL", message } as const;
    orderFaults(control, [{ id: "refuse", rpc: "ControllerPublishVolume", volume: claim.handle, fault }]);
    await world.start("refused", "refused");
    const refuses = new RegExp(`driver ${loopXfsName} refuses to attach it to 127.0.0.1 \\(VolumeAttachment csi-`);
    await world.explained("pod/refused", patience, refuses, /AttachFailed, for \d+m?s/, new RegExp(message));
    orderFaults(control, []);
    await world.pods.ready(patience, "refused");
    await world.explained("pod/refused", patience, /no problem with its volumes/);
    await world.leave(["refused"], `${claimsPath}/refused`);
  });

  it("names a volume that another node has, and which pod there", async function () {
    this.timeout(4 * patience);
    const { admin } = world.world.cluster;
    const claim = await world.claim("taken", loopXfsName);
    const other = await createNodeObject(admin, "other");
    // It says the id of the one node that there is: nothing is attached for anybody, but in objects.
    await new FakeKubelet(admin, other).registered(loopXfsName, world.staging.outside);
    const managed = { "volumes.kubernetes.io/controller-managed-attach-detach": "true" };
    await world.world.objects.patch("/api/v1/nodes/other", { metadata: { annotations: managed } });
    await world.start("holder", "taken", { nodeName: "other" });
    await attachedFor("holder", claim.volume);
    await world.explained("pvc/taken", patience, /attached to other \(VolumeAttachment/);
    await world.start("taken", "taken");
    await world.explained(
      "pod/taken",
      patience,
      /Multi-Attach error for volume ".*" Volume is already used by pod\(s\) holder/,
      /attached to other \(VolumeAttachment csi-\w+\), and cannot be attached to 127\.0\.0\.1 as well \(MultiAttach, for \d+/,
      /pod default\/holder on other uses it \(UsedByPods, for \d+/,
    );
    await world.forget("holder");
    await world.leave(["taken"], `${claimsPath}/taken`, "/api/v1/nodes/other");
  });

  /**
   * kube-controller-manager may hear of a pod before it hears of the annotation of its node, and then looks at neither
   * again for minutes: a pod that changes is looked at anew.
   */
  async function attachedFor(pod: string, volume: string): Promise<void> {
    let looks = 0;
    await until(`${volume} to be attached for ${pod}`, patience, async () => {
      const all = (await world.world.objects.get(attachments))?.["items"] as readonly Attachment[];
      if (all.some(({ spec }) => spec.source.persistentVolumeName === volume)) return true;
      looks += 1;
      await world.pods.annotate(pod, { annotations: { looks: String(looks) } });
      return false;
    });
  }

  it("names a mount that somebody has unmounted", async function () {
    this.timeout(4 * patience);
    const claim = await world.claim("unmounted", loopXfsName);
    await world.start("unmounted", "unmounted");
    await world.pods.ready(patience, "unmounted");
    await world.node.host.run("umount", world.mountOf("unmounted", claim));
    await world.explained(
      "pod/unmounted",
      patience,
      /Drifted/,
      /nothing mounted on it any more \(.*\/mount\): somebody unmounted it/,
      /delete the pod/,
      /for \d+m?s/,
    );
    await world.leave(["unmounted"], `${claimsPath}/unmounted`);
  });

  it("names a mount that a process keeps busy after its pod has ended", async function () {
    this.timeout(4 * patience);
    const { node, pods, explained } = world;
    const claim = await world.claim("busy", loopXfsName);
    await world.start("busy", "busy");
    await pods.ready(patience, "busy");
    const path = world.mountOf("busy", claim);
    const log = join(world.world.logs, "sleeper.log");
    const sleeper = node.host.startOn("sleeper", ["sh", "-c", `cd ${path} && exec sleep 600`], log, process.env);
    try {
      await world.objects.until("kubelet to see it mounted", patience, () =>
        node.mountsAt(path).then((m) => m.length > 0),
      );
      await world.leave(["busy"], `${claimsPath}/busy`);
      const words = [
        /has ended, and kubelet cannot unmount this: in use by pid \d+ \(sleep\) at/,
        /TargetBusy, for \d+/,
      ];
      await explained("pod/busy", patience, ...words, /being deleted/, /kubelet retries/);
    } finally {
      await sleeper.stop();
    }
  });

  it("names a FUSE mount whose server has died", async function () {
    this.timeout(4 * patience);
    need(this, "fuse");
    const { node, world: csi } = world;
    const point = "/mnt/fuse";
    await node.host.run("mkdir", "-p", point);
    const fuse = await FuseServer.start(point, undefined, node.host.pid);
    try {
      await csi.objects.volume("of-fuse", "", "", {
        csi: null,
        storageClassName: "by-hand",
        local: { path: `${point}/data` },
        nodeAffinity: {
          required: {
            nodeSelectorTerms: [
              { matchExpressions: [{ key: "kubernetes.io/hostname", operator: "In", values: [node.name] }] },
            ],
          },
        },
      });
      await csi.objects.claim("fuse", { storageClass: "by-hand" });
      await csi.objects.bound("fuse");
      await fuse.die();
      await world.start("fuse", "fuse");
      await world.explained(
        "pod/fuse",
        patience,
        /NotAnswering/,
        /transport endpoint is not connected/,
        /dead FUSE mount/i,
      );
    } finally {
      await fuse.die();
      await node.host.run("umount", "-l", point);
    }
    await world.leave(["fuse"], `${claimsPath}/fuse`, "/api/v1/persistentvolumes/of-fuse");
  });
});
