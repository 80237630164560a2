// kube-controller-manager beside us, started again and again: its attach/detach controller takes away what its pods
// don't need, but nothing of ours.
import { createHash } from "node:crypto";
import { expect } from "chai";
import { loopXfsName } from "../../hack/lib/csi/driver.ts";
import { slowSuite } from "../../hack/lib/lanes/slow.ts";
import { full } from "../lib/asserts/requirements.ts";
import { csiCalls, mountable } from "../lib/csi/csi-calls.ts";
import { attachments, ClaimStories, claims, type MadeClaim } from "../lib/csi/csi-claims.ts";
import { type Stories, type StoryNode, startStories } from "../lib/csi/csi-stories.ts";

const pods = "/api/v1/namespaces/default/pods";

slowSuite("kube-controller-manager beside us", () => {
  let stories: Stories;
  let on: ClaimStories;
  let node: StoryNode;

  before(async function () {
    stories = await startStories(this, { nodes: ["node-1"] });
    on = new ClaimStories(stories);
    [node] = stories.nodes as [StoryNode];
    // What a kubelet says of itself: without it the controller attaches nothing there.
    await annotate("true");
  });
  after(async () => {
    if (node !== undefined) await annotate(null);
  });
  const annotate = (value: string | null) => {
    const annotations = { "volumes.kubernetes.io/controller-managed-attach-detach": value };
    return stories.world.objects.patch(`/api/v1/nodes/${node.name}`, { metadata: { annotations } });
  };

  it("deletes no attachment of ours however often it starts, and keeps that of its own pod", async function () {
    const restarts = full() ? 50 : 10;
    this.timeout(restarts * 30_000 + 120_000);
    const { world, lane } = stories;
    const ours: MadeClaim[] = [];
    for (const name of ["ours-1", "ours-2", "ours-3"]) {
      const claim = await on.claim(name);
      await on.used(name, claim, node.name);
      ours.push(claim);
    }
    const theirs = await on.claim("theirs");
    await createPod(stories, "neighbour", theirs, node.name);
    const inUse = `kubernetes.io/csi/${loopXfsName}^${theirs.handle}`;
    await node.kubelet.reportInUse([inUse]);
    const theirName = attachmentNameOf(theirs.handle, node.name);
    await world.objects.attached(theirName);
    const before = await uidsOf(stories, [...ours, theirs]);
    expect(before).to.have.lengthOf(4);

    const stray = await strayVolume(stories);
    for (let start = 1; start <= restarts; start += 1) {
      await lane.controllerManager.stop();
      // One by its name that no pod of its needs: that it deletes this shows that it has looked at all of them.
      const name = attachmentNameOf(stray, node.name);
      await world.objects.attach(name, loopXfsName, "stray", node.name);
      await world.objects.attached(name);
      lane.controllerManager = await world.startControllerManager();
      let heartbeat = 0;
      await stories.objects.until(`start ${start} to delete what nobody needs`, 30_000, async () => {
        heartbeat += 1;
        await node.kubelet.reportInUse([inUse, `heartbeat-${start}-${heartbeat}`]);
        return (await world.objects.get(`${attachments}/${name}`)) === undefined;
      });
    }

    expect(await uidsOf(stories, [...ours, theirs])).to.deep.equal(before);
    const deletions = deletionsIn(stories.audit());
    const names = (code: number) => [...new Set(deletions.filter((one) => one.code === code).map(({ name }) => name))];
    expect(names(200), "deleted").to.deep.equal([attachmentNameOf(stray, node.name)]);
    // It did mean ours, too: by the names that it would have given them, and that we don't.
    const meant = ours.map(({ handle }) => attachmentNameOf(handle, node.name));
    expect(names(404), "deleted in vain").to.have.members(meant);
    for (const { name } of ours) {
      expect(on.intent(name, node.name)?.status).to.include({ state: "Mounted", inUse: true });
      expect(await node.mountsAt(`/mnt/nodevolume/${name}`)).to.have.lengthOf(1);
    }
    console.log(`    ${restarts} starts, each deleted the one attachment that nobody needed`);
  });

  it("gives back what its pod had when that has ended, and we what we had", async () => {
    const { world } = stories;
    await world.objects.remove(`${pods}/neighbour`);
    await node.kubelet.reportInUse([]);
    const names = ["ours-1", "ours-2", "ours-3"];
    await stories.objects.until("its attachment to be gone", 60_000, async () => {
      const { items } = (await world.objects.get(attachments)) as unknown as {
        items: { metadata: { name: string } }[];
      };
      return items.every(({ metadata }) => metadata.name.startsWith("nvi-")) && items.length === names.length;
    });
    await stories.remove(...names);
    expect((await world.objects.get(attachments))?.["items"]).to.deep.equal([]);
    expect(world.storage.loops()).to.deep.equal([]);
    for (const name of [...names, "theirs"]) await world.objects.remove(`${claims}/${name}`);
  });
});

/** As the CSI plugin of Kubernetes names it (pkg/volume/csi/csi_attacher.go, getAttachmentName). */
function attachmentNameOf(handle: string, node: string): string {
  return `csi-${createHash("sha256").update(`${handle}${loopXfsName}${node}`).digest("hex")}`;
}

async function uidsOf(stories: Stories, made: readonly MadeClaim[]): Promise<string[]> {
  const on = new ClaimStories(stories);
  const found = await Promise.all(made.map((claim) => on.attachmentsOf(claim)));
  return found.flat().map(({ metadata }) => `${metadata.name} ${metadata.uid}`);
}

/** A pod as the scheduler leaves it to a kubelet, of which there is none. */
async function createPod({ world }: Stories, name: string, { name: claimName }: MadeClaim, nodeName: string) {
  const container = { name: "main", image: "none", volumeMounts: [{ name: "data", mountPath: "/data" }] };
  const volumes = [{ name: "data", persistentVolumeClaim: { claimName } }];
  const spec = { nodeName, terminationGracePeriodSeconds: 0, containers: [container], volumes };
  const body = { apiVersion: "v1", kind: "Pod", metadata: { name }, spec };
  const { status, body: answer } = await world.cluster.admin.call("POST", pods, { body });
  expect(status, String(answer["message"])).to.equal(201);
}

/** A volume with a PersistentVolume that nobody claims. @returns its handle */
async function strayVolume({ world, nodes }: Stories): Promise<string> {
  using csi = csiCalls(nodes[0]?.driver.outside ?? "");
  const request = { name: "stray", volumeCapabilities: [mountable()] };
  const { volume } = await csi.call<{ volume: { volumeId: string } }>("createVolume", request);
  await world.objects.volume("stray", loopXfsName, volume.volumeId);
  return volume.volumeId;
}

/** Requests to delete VolumeAttachments, and how the API server answered. */
function deletionsIn(log: string): { readonly name: string; readonly code: number }[] {
  const lines = log.split("\n");
  lines.pop(); // empty, or not written whole yet
  const requests = lines.map((line) => JSON.parse(line) as AuditLine);
  return requests
    .filter(({ verb }) => verb === "delete")
    .map(({ objectRef, responseStatus }) => ({ name: objectRef?.name ?? "", code: responseStatus?.code ?? 0 }));
}

interface AuditLine {
  readonly verb: string;
  readonly objectRef?: { readonly name?: string };
  readonly responseStatus?: { readonly code?: number };
}
