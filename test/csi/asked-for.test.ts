// What the CSIDriver of a real driver asks for, how full its volumes are, and a file system that goes read-only by
// itself.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import type { RunningDriver } from "../../hack/lib/csi/driver.ts";
import { csiDir } from "../../hack/lib/csi/paths.ts";
import { slowSuite } from "../../hack/lib/lanes/slow.ts";
import { csiCalls, mountable } from "../lib/csi/csi-calls.ts";
import { ClaimStories, idsOf, pathOf } from "../lib/csi/csi-claims.ts";
import { type Stories, type StoryNode, startStories } from "../lib/csi/csi-stories.ts";
import { grpcRequests } from "../lib/csi/grpc-requests.ts";
import { endDriver, startHostPath } from "../lib/csi/host-path.ts";

/** The first question comes within 10 s, each further one within 75. */
const statsMs = 30_000;
/** The kernel tells nobody when a file system goes read-only; the table is compared with mountinfo within a minute. */
const unheardMs = 90_000;

slowSuite("what a driver asks for", () => {
  let stories: Stories;
  let on: ClaimStories;
  let node: StoryNode;
  let other: RunningDriver;

  before(async function () {
    stories = await startStories(this, { nodes: ["node-1"] });
    on = new ClaimStories(stories);
    [node] = stories.nodes as [StoryNode];
    const asks = { podInfoOnMount: true, requiresRepublish: true };
    const volumeLifecycleModes = ["Persistent", "Ephemeral"];
    other = await startHostPath(stories, node, { ...asks, volumeLifecycleModes });
  });
  after(async () => {
    if (other !== undefined) await endDriver(stories, node, other);
  });

  const setOf = (name: string, driver: string, volumeHandle: string) =>
    stories.apply(name, {
      nodeSelector: { "kubernetes.io/hostname": node.name },
      volume: { source: { csi: { driver, volumeHandle } } },
      mounts: [{ name: "data", path: pathOf(name) }],
    });
  /** Requests of NodePublishVolume, as the host-path driver's own log has them. */
  const publishes = () => grpcRequests(join(stories.world.logs, `${other.name}-${node.name}.log`), "NodePublishVolume");
  const metrics = async () => {
    const log = readFileSync(join(stories.world.logs, `agent-${node.name}.log`), "utf8");
    const line = log.split("\n").findLast((text) => text.includes("serving metrics and health")) ?? "";
    const { port } = JSON.parse(line) as { port: number };
    return (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  };
  const shows = async (metric: RegExp): Promise<number | undefined> => {
    const found = metric.exec(await metrics())?.[1];
    return found === undefined ? undefined : Number(found);
  };

  /** A volume that the host-path driver has made for nobody, mounted on the node. */
  async function usedWithoutClaim(name: string): Promise<void> {
    using csi = csiCalls(other.outside);
    const request = { name, capacityRange: { requiredBytes: "1048576" }, volumeCapabilities: [mountable()] };
    const { volume } = await csi.call<{ volume: { volumeId: string } }>("createVolume", request);
    await setOf(name, other.name, volume.volumeId);
    await stories.objects.ready(name, 1, 60_000);
  }

  it("is called again with what it was called with, told of no pod, and its mounts stay (behaviours 19 and 105)", async () => {
    await usedWithoutClaim("again");
    const grant = on.intent("again", node.name)?.spec.grant?.csi;
    expect(grant).to.include({ podInfoOnMount: true, requiresRepublish: true });
    const mounts = idsOf(await node.mountsAt(pathOf("again")));
    const [first = "", ...more] = publishes();
    expect(more).to.deep.equal([]);
    expect(first).to.include('"csi.storage.k8s.io/ephemeral":"false"').and.not.include("pod.name");
    // Each minute as well, which test/real/csi-republish.test.ts does not have to wait for.
    await node.restartAgent();
    await stories.objects.until("the driver to be called again", 60_000, () => publishes().length === 2);
    expect(new Set(publishes())).to.have.property("size", 1);
    expect(idsOf(await node.mountsAt(pathOf("again")))).to.deep.equal(mounts);
    expect(mounts).to.have.lengthOf(1);
    const ofDriver = (await node.host.mounts()).filter((line) => line.split(" ")[4]?.startsWith(csiDir));
    expect(ofDriver, "one layer").to.have.lengthOf(1);
    await stories.remove("again");
  });

  it("tells how full a volume without a claim is, and what the driver thinks of it, as long as it is there", async () => {
    await usedWithoutClaim("without-claim");
    const intent = () => on.intent("without-claim", node.name);
    const used = new RegExp(
      `^nodevolume_volume_stats_capacity_bytes\\{intent="${intent()?.metadata.name}"\\} (\\d+)$`,
      "m",
    );
    await stories.objects.until("its numbers", statsMs, async () => ((await shows(used)) ?? 0) > 0);
    // By its own lights nothing is mounted that is not mounted for a pod; that it says so is what counts here.
    const unhealthy = () => intent()?.status?.conditions?.find(({ type }) => type === "VolumeHealthy");
    await stories.objects.until("its condition", statsMs, () => unhealthy()?.message === "The volume isn't mounted");
    expect(intent()?.status?.state).to.equal("Mounted");
    await stories.remove("without-claim");
    expect(await shows(used)).to.equal(undefined);
  });

  it("a driver that is for pods alone is refused, and nothing is touched (behaviour 106)", async () => {
    const name = "pods-alone.csi.nodevolume.test";
    await stories.world.objects.csiDriver(name, { attachRequired: false, volumeLifecycleModes: ["Ephemeral"] });
    await setOf("pods-alone", name, "vol");
    expect(await on.waits("pods-alone", node.name, "LifecycleModeUnsupported")).to.include(name);
    expect(on.intent("pods-alone", node.name)?.spec.grant).to.equal(undefined);
    await stories.remove("pods-alone");
    await stories.world.objects.remove(`/apis/storage.k8s.io/v1/csidrivers/${name}`);
  });

  it("tells how full a claim is, in kubelet's metrics, as long as it is there (behaviour 118)", async () => {
    const claim = await on.claim("full");
    const path = await on.used("full", claim, node.name);
    const labels = `\\{namespace="default",persistentvolumeclaim="full"\\}`;
    const capacity = new RegExp(`^kubelet_volume_stats_capacity_bytes${labels} (\\d+)$`, "m");
    await stories.objects.until("its numbers", statsMs, async () => (await shows(capacity)) !== undefined);
    const [blocks, size, inodes] = (await node.host.run("stat", "-f", "-c", "%b %S %c", path))
      .trim()
      .split(" ")
      .map(Number);
    expect(await shows(capacity)).to.equal((blocks as number) * (size as number));
    expect(await shows(new RegExp(`^kubelet_volume_stats_inodes${labels} (\\d+)$`, "m"))).to.equal(inodes);
    await on.end(["full"], claim);
    expect(await shows(capacity)).to.equal(undefined);
  });

  it("a file system that goes read-only is said to have done so, until it is writable again", async () => {
    const claim = await on.claim("flip");
    const path = await on.used("flip", claim, node.name);
    const staging = on.intent("flip", node.name)?.status?.stagingPath ?? "";
    const drift = () => on.intent("flip", node.name)?.status?.drift?.class;
    await node.host.run("mount", "-o", "remount,ro", staging);
    await stories.objects.until("the drift to be told", unheardMs, () => drift() === "ReadOnlyFlip");
    const ready = on.intent("flip", node.name)?.status?.conditions?.find(({ type }) => type === "Ready");
    expect(ready).to.include({ status: "False", reason: "FilesystemReadOnly" });
    expect(await node.mountsAt(path)).to.have.lengthOf(1);
    await node.host.run("mount", "-o", "remount,rw", staging);
    await stories.objects.until("it to be over", unheardMs, () => drift() === undefined);
    await on.end(["flip"], claim);
    expect(on.effects(claim)).to.include.members(["unpublished", "unstaged", "detached"]);
  });
});
