// One volume of one node at a time, moved between two again and again while everything around it fails.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { until } from "../../hack/lib/until.ts";
import { readRecord } from "../drivers/lib/record.ts";
import { startCluster } from "../lib/cluster.ts";
import { handleOf, type Stories, type StoryNode, startStories, storageClass } from "../lib/csi-stories.ts";
import { full } from "../lib/requirements.ts";
import { SeededRandom } from "../sim/random.ts";
import { attachmentSpans, auditPolicy } from "./history/audit.ts";
import { driverSpans, machineClock } from "./history/driver-spans.ts";
import { breachesOf } from "./history/spans.ts";

const claims = "/api/v1/namespaces/default/persistentvolumeclaims";
const attachments = "/apis/storage.k8s.io/v1/volumeattachments";
const target = "/mnt/nodevolume/moved";

/** What fails is chosen by it. NODEVOLUME_MOVE_SEED takes one that was printed. */
const seed = Number(process.env["NODEVOLUME_MOVE_SEED"] || Math.floor(Math.random() * 0x1_0000_0000));

describe("a volume that goes from node to node", () => {
  let stories: Stories;
  before(async function () {
    stories = await startStories(this, {
      nodes: ["node-1", "node-2"],
      cluster: () => startCluster({ audit: auditPolicy }),
    });
  });
  after(async () => {
    await stories?.world[Symbol.asyncDispose]();
  });

  it("is never used on one while it is attached to another, whatever fails", async function () {
    const moves = full() ? 100 : 20;
    this.timeout(moves * 30_000 + 2 * patience);
    const { world, nodes } = stories;
    await world.objects.claim("moved", { storageClass, size: "320Mi" });
    const handle = handleOf(await world.objects.bound("moved"));
    const random = new SeededRandom(seed, "moves");
    const faults = new Map<string, number>();
    let longestMs = 0;
    for (let move = 0; move < moves; move += 1) {
      const node = nodes[move % nodes.length] as StoryNode;
      const began = performance.now();
      await stories.apply("moved", setOn(node.name));
      const fault = kinds[Math.floor(random.next() * kinds.length)] as FaultKind;
      faults.set(fault, (faults.get(fault) ?? 0) + 1);
      await inflict(fault, stories, random);
      await arrives(stories, node);
      longestMs = Math.max(longestMs, performance.now() - began);
      await work(node, move);
    }
    const counts = [...faults].map(([kind, count]) => `${kind} ${count}`).join(", ");
    console.log(`    ${moves} moves (seed ${seed}): ${counts}; the longest took ${(longestMs / 1000).toFixed(1)} s`);

    const last = nodes[(moves - 1) % nodes.length] as StoryNode;
    const lines = (await last.host.run("cat", `${target}/log/lines`)).trim().split("\n");
    expect(lines, "what each node wrote").to.deep.equal(Array.from({ length: moves }, (_, move) => `move ${move}`));
    await stories.remove("moved");
    await leavesNothing(stories);

    const audit = readFileSync(join(world.cluster.controlPlane.directory, "audit.log"), "utf8");
    const attached = attachmentSpans(audit, (name) => (name.startsWith("nvi-") ? handle : undefined));
    const used = driverSpans(readRecord(world.storage.record), machineClock(), (id) => id.replace("id-of-", ""));
    expect(attached.length, "attachments in the audit log").to.be.at.least(moves);
    expect(used.filter(({ what }) => what === "staged").length, "stages in the driver's record").to.be.at.least(moves);
    expect(breachesOf([...attached, ...used]).map(({ message }) => message)).to.deep.equal([]);
    await world.objects.remove(`${claims}/moved`);
  });
});

const kinds = ["nothing", "API server killed", "agents killed", "driver killed", "attacher paused"] as const;
type FaultKind = (typeof kinds)[number];

async function inflict(kind: FaultKind, stories: Stories, random: SeededRandom): Promise<void> {
  const { world, nodes } = stories;
  const moment = random.next() * 1_500;
  const began = performance.now();
  await until("the moment of the fault", 10_000, () => performance.now() - began >= moment);
  switch (kind) {
    case "nothing":
      return;
    case "API server killed": {
      const server = world.cluster.controlPlane.apiServer();
      server.kill("SIGKILL");
      await server.ended;
      await world.cluster.controlPlane.startApiServer();
      return;
    }
    case "agents killed":
      for (const node of nodes) await node.restartAgent();
      return;
    case "driver killed":
      for (const { driver } of nodes) {
        driver.process.kill("SIGKILL");
        await driver.process.ended;
        await driver.restart();
      }
      return;
    case "attacher paused": {
      stories.attacher.kill("SIGSTOP");
      const paused = performance.now();
      await until("the end of the pause", 10_000, () => performance.now() - paused >= 1_000);
      stories.attacher.kill("SIGCONT");
      return;
    }
  }
}

function setOn(node: string): object {
  return {
    nodeSelector: { "kubernetes.io/hostname": node },
    volume: { source: { persistentVolumeClaim: { namespace: "default", claimName: "moved" } } },
    mounts: [{ name: "data", path: target }],
  };
}

/**
 * Milliseconds: an agent that is killed during a call to its driver makes the next release wait for a whole deadline of such
 * calls, two minutes (DriverMayStillAct).
 */
const patience = 240_000;

async function arrives(stories: Stories, node: StoryNode): Promise<void> {
  await stories.objects.until(`the volume to be mounted on ${node.name}`, patience, async () => {
    const intent = stories.objects.intentOn("moved", node.name);
    const isReady = intent?.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True");
    return isReady === true && (await node.mountsAt(target)).length === 1;
  });
}

/** Appends a line where only the volume has a folder, and leaves a program that writes beside it until it no longer can. */
async function work(node: StoryNode, move: number): Promise<void> {
  const folder = `${target}/log`;
  const load = `(while echo load > ${folder}/load-${move}; do sleep 0.005; done) >/dev/null 2>&1 &`;
  await node.host.run("sh", "-c", `mkdir -p ${folder} && echo "move ${move}" >> ${folder}/lines && ${load}`);
}

async function leavesNothing({ world, nodes }: Stories): Promise<void> {
  const { items } = (await world.objects.get(attachments)) as { items: object[] };
  expect(items, "attachments").to.deep.equal([]);
  expect(world.storage.loops(), "loop devices").to.deep.equal([]);
  for (const { host } of nodes) {
    const left = (await host.mounts()).filter(
      (line) => line.includes(target) || line.includes("plugins/nodevolume.dev"),
    );
    expect(left, `mounts on ${host.name}`).to.deep.equal([]);
  }
}
