import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { layout } from "../../hack/lib/pretend-node/node.ts";
import { parseJournal } from "../../src/agent/journal-format.ts";
import { full } from "../lib/requirements.ts";
import { type TestNode, testWorld, type World } from "../lib/world.ts";

const volumes = 4;
const names = Array.from({ length: volumes }, (_, i) => `churn-${i}`);
const pathOf = (name: string) => `/mnt/nodevolume/${name}`;

/** Kills in the middle of work are rare at random moments: every other one waits for the journal to move first. */
const momentsAfterWrite = 12;

describe("an agent killed while mounts come and go", () => {
  let world: World;
  before(async function () {
    world = await testWorld(this);
  });
  after(() => world?.remove(...names));

  it("loses, stacks and leaks nothing", async function () {
    const kills = full() ? 200 : 30;
    this.timeout(kills * 4_000 + 120_000);
    const [node] = world.nodes;
    const phases = new Map<string, number>();
    let churning = true;
    const churn = (async () => {
      for (let round = 0; churning; round += 1) await stir(world, round);
    })();
    try {
      for (let kill = 0; kill < kills; kill += 1) {
        await moment(node, kill);
        node.agent.kill("SIGKILL");
        await node.agent.ended;
        const phase = await phaseOf(world, node);
        phases.set(phase, (phases.get(phase) ?? 0) + 1);
        const mounted = await mountedPaths(node);
        expect(sorted(mounted), "at most one mount on a path").to.equal(sorted([...new Set(mounted)]));
        node.agent = node.startAgent();
      }
    } finally {
      churning = false;
      await churn;
    }
    console.log(`    killed ${kills} times:`);
    for (const [phase, count] of [...phases].sort(([, a], [, b]) => b - a))
      console.log(`      ${String(count).padStart(4)}  ${phase}`);
    await world.objects.until("every intent to be settled", 60_000, () =>
      [...world.objects.intents.values()].every(isSettled),
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
  });
});

/** One change to one set: made, moved, given other options, or deleted. */
async function stir(world: World, round: number): Promise<void> {
  const name = names[round % volumes] ?? "";
  const source = round % 2 === 0 ? { emptyDir: { medium: "Memory", sizeLimit: "1Mi" } } : { emptyDir: {} };
  const kind = Math.floor(round / volumes) % 4;
  if (kind === 3) {
    await world.cluster.kubectl.try(["delete", "nvs", name, "--wait=false", "--ignore-not-found"]);
    return;
  }
  const path = kind === 1 ? `${pathOf(name)}-moved` : pathOf(name);
  // The name may still be on its way out, or be refused for a change that another round made: the next round will do.
  await world
    .apply(name, { volume: { source }, mounts: [{ name: "host", path, readOnly: kind === 2 }] })
    .catch(() => undefined);
}

/** Waits until it is time to kill: a random while, or a random instant after the journal moved. */
async function moment(node: TestNode, kill: number): Promise<void> {
  if (kill % 2 === 0) return sleep(Math.random() * 1_500);
  const size = journalText(node).length;
  const deadline = performance.now() + 3_000;
  while (journalText(node).length === size && performance.now() < deadline) await sleep(1);
  await sleep(Math.random() * momentsAfterWrite);
}

/** Where the agent was when it died, from what it left: its journal, the host's table, and what the API server was told. */
async function phaseOf(world: World, node: TestNode): Promise<string> {
  const journal = readJournal(node);
  const mounted = await mountedPaths(node);
  const intents = [...world.objects.intents.values()].filter((intent) => intent.spec.nodeName === node.name);
  for (const record of journal.values()) {
    const intent = intents.find((i) => i.metadata.name === record.name);
    const going = intent === undefined || intent.metadata.deletionTimestamp !== undefined;
    for (const target of record.targets) {
      if (!mounted.includes(target.path)) return going ? "unmounted, not yet forgotten" : "recorded, not yet mounted";
      if (target.mountID === undefined) return "mounted, its id not yet recorded";
      if (going) return "asked to release, not yet unmounted";
    }
    if (record.stage !== undefined && !record.stage.ready) return "staging";
    if (record.targets.length === 0) return going ? "unmounted, not yet unstaged" : "staged, no target yet";
    if (intent?.status?.observedGeneration !== intent?.metadata.generation) return "mounted, not yet reported";
  }
  return intents.some((intent) => !journal.has(intent.metadata.name)) ? "intent not yet begun" : "idle";
}

function journalText(node: TestNode): string {
  try {
    return readFileSync(`/proc/${node.host.pid}/root${layout.stateDir}/journal`, "utf8");
  } catch {
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
