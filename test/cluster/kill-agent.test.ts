import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { slow, slowInGate } from "../../hack/lib/lanes/slow.ts";
import { layout } from "../../hack/lib/pretend-node/node.ts";
import { parseJournal } from "../../src/agent/journal/journal-format.ts";
import { asVolumeName } from "../../src/agent/model/identities.ts";
import type { VolumeRecord } from "../../src/agent/model/volume-record.ts";
import type { NodeVolumeIntent } from "../../src/api/types.gen.ts";
import { full } from "../lib/asserts/requirements.ts";
import { type TestNode, testWorld, type World } from "../lib/cluster/world.ts";
import { SeededRandom } from "../sim/random.ts";

const volumes = 4;
const names = Array.from({ length: volumes }, (_, i) => `churn-${i}`);
const pathOf = (name: string) => `/mnt/nodevolume/${name}`;

/** Kills in the middle of work are rare at random moments: every other one waits for the journal to move first. */
const momentsAfterWrite = 12;

/** Of the random moments, not of what the machine makes of them. NODEVOLUME_KILL_SEED takes one that was printed. */
const seed = Number(process.env["NODEVOLUME_KILL_SEED"] || Math.floor(Math.random() * 0x1_0000_0000));
/** Kinds of work, beside none, in the middle of which the agent must have been killed for the test to say anything. */
const leastPhases = 3;

/** What came of the changes that were asked for. */
interface Churn {
  applied: number;
  /** Taken by the API server for a set that was on its way out. */
  late: number;
  refused: number;
}

describe("an agent killed while mounts come and go", () => {
  let world: World;
  before(async function () {
    world = await testWorld(this);
  });
  after(() => world?.remove(...names));

  slowInGate("loses, stacks and leaks nothing, killed six times", async function () {
    await killed(this, 6, 1);
  });

  slow("loses, stacks and leaks nothing", async function () {
    await killed(this, full() ? 200 : 30, leastPhases);
  });

  /** @param least kinds of work, beside none, in the middle of which it must have been killed */
  async function killed(context: Mocha.Context, kills: number, least: number): Promise<void> {
    context.timeout(kills * 4_000 + 120_000);
    const [node] = world.nodes;
    const phases = new Map<string, number>();
    const random = new SeededRandom(seed, "kills");
    const changes: Churn = { applied: 0, late: 0, refused: 0 };
    let churning = true;
    const churn = (async () => {
      for (let round = 0; churning; round += 1) await stir(world, round, changes);
    })();
    try {
      for (let kill = 0; kill < kills; kill += 1) {
        await moment(node, kill, random);
        node.agent.kill("SIGKILL");
        await node.agent.ended;
        for (const phase of await phasesOf(world, node)) phases.set(phase, (phases.get(phase) ?? 0) + 1);
        const mounted = await mountedPaths(node);
        expect(sorted(mounted), "at most one mount on a path").to.equal(sorted([...new Set(mounted)]));
        node.agent = node.startAgent();
      }
    } finally {
      churning = false;
      await churn;
    }
    const { applied, late, refused } = changes;
    console.log(`    killed ${kills} times (seed ${seed}), ${applied} changes, ${late} too late, ${refused} refused:`);
    for (const [phase, count] of [...phases].sort(([, a], [, b]) => b - a))
      console.log(`      ${String(count).padStart(4)}  ${phase}`);
    expect(applied + late, "changes that were applied").to.be.greaterThan(Math.max(kills, 5 * refused));
    const working = [...phases.keys()].filter((phase) => phase !== "idle");
    expect(working.length, working.join("; ")).to.be.at.least(least);
    await world.objects.until("no set to be on its way out", 60_000, () =>
      [...world.objects.sets.values()].every((set) => set.metadata.deletionTimestamp === undefined),
    );
    for (const name of names) await change(world, name, 0);
    await world.objects.until("every intent to be settled", 60_000, () =>
      names.every((name) => {
        const intents = world.objects.intentsOf(name);
        return intents.length === world.nodes.length && intents.every(isSettled);
      }),
    );
    await world.objects.until("the table to equal the intents", 30_000, async () => {
      const wanted = [...world.objects.intents.values()]
        .filter((i) => i.spec.nodeName === node.name)
        .flatMap((i) => i.spec.mounts.map((m) => m.path));
      return sorted(await mountedPaths(node)) === sorted(wanted);
    });
    await world.remove(...names);
    await world.objects.until("nothing to be left", 30_000, async () => {
      const left = (await mountedPaths(node)).filter((path) => names.some((name) => path.startsWith(pathOf(name))));
      return left.length === 0;
    });
    const journal = readJournal(node);
    expect([...journal.keys()].filter((name) => name.includes("churn"))).to.deep.equal([]);
  }
});

/** One change to one set: made, moved, given other options, or deleted. */
async function stir(world: World, round: number, changes: Churn): Promise<void> {
  const name = names[round % volumes] ?? "";
  if (kindOf(round) === 3) {
    await world.cluster.kubectl.try(["delete", "nvs", name, "--wait=false", "--ignore-not-found"]);
    return;
  }
  try {
    await change(world, name, round);
    changes.applied += 1;
  } catch (error) {
    // The name is still on its way out, or another writer came between: the next round will do.
    if (/being deleted since/.test(String(error))) changes.late += 1;
    else if (/conflict|being deleted|the object has been modified/i.test(String(error))) changes.refused += 1;
    else throw error;
  }
}

async function change(world: World, name: string, round: number): Promise<void> {
  const kind = kindOf(round);
  const source = round % 2 === 0 ? { emptyDir: { medium: "Memory", sizeLimit: "1Mi" } } : { emptyDir: {} };
  const path = kind === 1 ? `${pathOf(name)}-moved` : pathOf(name);
  await world.apply(name, { volume: { source }, mounts: [{ name: "host", path, readOnly: kind === 2 }] });
}

const kindOf = (round: number) => Math.floor(round / volumes) % 4;

/** Waits until it is time to kill: a random while, or a random instant after the journal moved. */
async function moment(node: TestNode, kill: number, random: SeededRandom): Promise<void> {
  if (kill % 2 === 0) return sleep(random.next() * 1_500);
  const size = journalText(node).length;
  const deadline = performance.now() + 3_000;
  while (journalText(node).length === size && performance.now() < deadline) await sleep(1);
  await sleep(random.next() * momentsAfterWrite);
}

/**
 * Where the agent was when it died, from what it left: its journal, the host's table, and what the API server was told.
 * One for each volume that was under way, or idle.
 */
async function phasesOf(world: World, node: TestNode): Promise<Set<string>> {
  const journal = readJournal(node);
  const mounted = await mountedPaths(node);
  const intents = [...world.objects.intents.values()].filter((intent) => intent.spec.nodeName === node.name);
  const phases = [...journal.values()].flatMap((record) => {
    const intent = intents.find((i) => i.metadata.name === record.name);
    return phaseOf(record, intent, mounted) ?? [];
  });
  for (const { metadata } of intents.filter((intent) => !journal.has(asVolumeName(intent.metadata.name)))) {
    phases.push(
      metadata.deletionTimestamp === undefined ? "intent not yet begun" : "released, its intent not yet gone",
    );
  }
  return new Set(phases.length === 0 ? ["idle"] : phases);
}

function phaseOf(
  record: VolumeRecord,
  intent: NodeVolumeIntent | undefined,
  mounted: readonly string[],
): string | undefined {
  const going = intent === undefined || intent.metadata.deletionTimestamp !== undefined;
  for (const target of record.targets) {
    if (!mounted.includes(target.path)) return going ? "unmounted, not yet forgotten" : "recorded, not yet mounted";
    if (target.mountID === undefined) return "mounted, its id not yet recorded";
    if (going) return "asked to release, not yet unmounted";
  }
  if (going) return record.stage?.ready === true ? "unmounted, not yet unstaged" : "unstaging";
  if (record.stage?.ready === false) return "staging";
  if (record.targets.length === 0) return "staged, no target yet";
  const observed = intent.status?.observedGeneration === intent.metadata.generation;
  return observed ? undefined : "mounted, not yet reported";
}

function journalText(node: TestNode): string {
  try {
    return readFileSync(`/proc/${node.host.pid}/root${layout.stateDir}/journal`, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    return "";
  }
}

const readJournal = (node: TestNode) => parseJournal(journalText(node)).records;

async function mountedPaths(node: TestNode): Promise<string[]> {
  const paths = (await node.host.mounts()).map((line) => line.split(" ")[4] ?? "");
  return paths.filter((path) => path.startsWith(`${layout.prefix}/`));
}

function isSettled(intent: {
  metadata: { generation?: number; deletionTimestamp?: string };
  status?: { observedGeneration?: number; conditions?: readonly { type: string; status: string }[] };
}): boolean {
  const ready = intent.status?.conditions?.some((c) => c.type === "Ready" && c.status === "True") === true;
  return (
    intent.metadata.deletionTimestamp === undefined &&
    ready &&
    intent.status?.observedGeneration === intent.metadata.generation
  );
}

function sorted(paths: readonly string[]): string {
  return [...paths].sort().join("\n");
}
