// Volumes of one node at a time, moved between two again and again while everything around them fails.
import { expect } from "chai";
import { slowSuite } from "../../hack/lib/lanes/slow.ts";
import { until } from "../../hack/lib/until.ts";
import { readRecord } from "../drivers/lib/record.ts";
import { full } from "../lib/asserts/requirements.ts";
import { attachments, ClaimStories, type MadeClaim, pathOf } from "../lib/csi/csi-claims.ts";
import { type Stories, type StoryNode, startStories } from "../lib/csi/csi-stories.ts";
import { SeededRandom } from "../sim/random.ts";
import { attachmentSpans } from "./history/audit.ts";
import { driverSpans, machineClock } from "./history/driver-spans.ts";
import { breachesOf } from "./history/spans.ts";

const names = ["moved-1", "moved-2", "moved-3", "moved-4"];

/** What fails when is chosen by it. NODEVOLUME_MOVE_SEED takes one that was printed. */
const seed = Number(process.env["NODEVOLUME_MOVE_SEED"] || Math.floor(Math.random() * 0x1_0000_0000));

slowSuite("volumes that go from node to node", () => {
  let stories: Stories;
  let on: ClaimStories;

  before(async function () {
    stories = await startStories(this, { nodes: ["node-1", "node-2"] });
    on = new ClaimStories(stories);
  });

  it("are never used on one while they are attached to another, whatever fails", async function () {
    const rounds = (full() ? 10 : 1) * kinds.length;
    this.timeout(rounds * 60_000 + 2 * patience);
    const { world, nodes } = stories;
    const volumes: MadeClaim[] = [];
    for (const name of names) volumes.push(await on.claim(name));
    const random = new SeededRandom(seed, "moves");
    const faults: FaultKind[] = [];
    let longestMs = 0;
    for (let round = 0; round < rounds; round += 1) {
      const node = nodes[round % nodes.length] as StoryNode;
      // Every kind once, and then every kind again.
      if (round % kinds.length === 0) faults.push(...shuffled(kinds, random));
      const began = performance.now();
      await stories.applyAll(Object.fromEntries(names.map((name) => [name, setOn(node.name, name)])));
      await inflict(faults[round] as FaultKind, stories, random);
      for (const name of names) await arrives(stories, node, name);
      longestMs = Math.max(longestMs, performance.now() - began);
      for (const name of names) await work(node, name, round);
    }
    const moves = rounds * names.length;
    console.log(
      `    ${moves} moves (seed ${seed}): ${faults.join(", ")}; the longest took ${(longestMs / 1000).toFixed(1)} s`,
    );

    const last = nodes[(rounds - 1) % nodes.length] as StoryNode;
    for (const name of names) {
      const lines = (await last.host.run("cat", `${pathOf(name)}/log/lines`)).trim().split("\n");
      const written = Array.from({ length: rounds }, (_, round) => `round ${round}`);
      expect(lines, `what each node wrote to ${name}`).to.deep.equal(written);
    }
    await stories.remove(...names);
    await leavesNothing(stories);

    const handles = new Map(volumes.map(({ volume, handle }) => [volume, handle]));
    const attached = attachmentSpans(stories.audit(), (volume) => handles.get(volume));
    const record = readRecord(world.storage.record);
    const used = driverSpans(record, machineClock(), (id) => id.replace("id-of-", ""));
    const spans = [...attached, ...used.filter(({ volume }) => [...handles.values()].includes(volume))];
    for (const { handle } of volumes) {
      const count = (what: string) => spans.filter((span) => span.volume === handle && span.what === what).length;
      expect(count("attachment"), "attachments in the audit log").to.be.at.least(rounds);
      expect(count("staged"), "stages in the driver's record").to.be.at.least(rounds);
    }
    expect(breachesOf(spans).map(({ message }) => message)).to.deep.equal([]);
    await on.end([], ...volumes);
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
      stories.lane.attacher.kill("SIGSTOP");
      const paused = performance.now();
      await until("the end of the pause", 10_000, () => performance.now() - paused >= 1_000);
      stories.lane.attacher.kill("SIGCONT");
      return;
    }
  }
}

function setOn(node: string, name: string): object {
  return {
    nodeSelector: { "kubernetes.io/hostname": node },
    volume: { source: { persistentVolumeClaim: { namespace: "default", claimName: name } } },
    mounts: [{ name: "data", path: pathOf(name) }],
  };
}

/**
 * Milliseconds: an agent that is killed during a call to its driver makes the next release wait for a whole deadline of
 * such calls, two minutes (DriverMayStillAct).
 */
const patience = 240_000;

async function arrives(stories: Stories, node: StoryNode, name: string): Promise<void> {
  await stories.objects.until(`${name} to be mounted on ${node.name}`, patience, async () => {
    const intent = stories.objects.intentOn(name, node.name);
    const isReady = intent?.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True");
    return isReady === true && (await node.mountsAt(pathOf(name))).length === 1;
  });
}

/**
 * Appends a line where only the volume has a folder, and leaves a program that writes beside it until it no longer can.
 */
async function work(node: StoryNode, name: string, round: number): Promise<void> {
  const folder = `${pathOf(name)}/log`;
  const load = `(while echo load > ${folder}/load-${round}; do sleep 0.02; done) >/dev/null 2>&1 &`;
  await node.host.run("sh", "-c", `mkdir -p ${folder} && echo "round ${round}" >> ${folder}/lines && ${load}`);
}

async function leavesNothing({ world, nodes }: Stories): Promise<void> {
  const { items } = (await world.objects.get(attachments)) as { items: object[] };
  expect(items, "attachments").to.deep.equal([]);
  expect(world.storage.loops(), "loop devices").to.deep.equal([]);
  for (const { host } of nodes) {
    const left = (await host.mounts()).filter(
      (line) => line.includes("/mnt/nodevolume/moved-") || line.includes("plugins/nodevolume.dev"),
    );
    expect(left, `mounts on ${host.name}`).to.deep.equal([]);
  }
}

function shuffled<T>(items: readonly T[], random: SeededRandom): T[] {
  const keyed = items.map((item) => ({ item, key: random.next() }));
  return keyed.sort((a, b) => a.key - b.key).map(({ item }) => item);
}
