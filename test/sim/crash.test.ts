import { mkdirSync, writeFileSync } from "node:fs";
import { assert } from "chai";
import { slow } from "../../hack/lib/lanes/slow.ts";
import { full } from "../lib/asserts/requirements.ts";
import { type LedgerEntry, summaryOf } from "./crash-ledger.ts";
import type { Outcome } from "./pool/jobs.ts";
import { Pool } from "./pool/pool.ts";
import { Tally } from "./pool/tally.ts";
import { scenarios } from "./scenarios/all.ts";

/** States that this suite is about: it proves nothing if they never come up. */
const mustBeSeen = [
  "kill: torn journal append",
  "kill: torn child mount",
  "kill: after journal append",
  "kill: after mount tmpfs",
  "kill: after bind",
  "kill: after unmount",
  "kill: after api PATCH",
  "kill: after api PUT",
  "kill: after api DELETE",
  "reboot: after journal append",
  "reboot: after bind",
  "reboot: after unmount",
  "mkfs: cut off",
  "waiting: TargetBusy",
  "waiting: StillReferenced",
  "waiting: ForeignMount",
  "waiting: ForeignMountOnTarget",
  "waiting: OperationAbandoned",
  "waiting: PathConflict",
  "waiting: DriverNotRegistered",
  "waiting: DriverMayStillAct",
  "waiting: FsGroupConflict",
  "kill: torn csi NodeStageVolume",
  "kill: torn csi NodeUnpublishVolume",
  "kill: after csi NodeUnstageVolume",
  "reboot: after csi NodePublishVolume",
  "deleting: still in use",
  "answer: 409",
];

/** Scenarios that the gate ends at each of their effects, too: short ones, of each kind of volume. */
const inGate: ReadonlySet<string> = new Set([
  "emptyDir in memory",
  "a device with data that is no file system",
  "a CSI driver that stages nothing",
  "the node reboots while a volume is deleted",
  "a set without mounts is where pods use it, while they do",
]);

describe("a process that ends at any of its effects", function () {
  this.timeout(45 * 60_000);
  const tally = new Tally();
  const outcomes = new Map<string, Promise<Outcome>>();
  const ledgers = new Map<string, readonly LedgerEntry[]>();
  let pool: Pool;

  before(function () {
    pool = new Pool();
    const titles = new Set(this.test?.parent?.tests.map(({ title }) => title));
    for (const { name } of scenarios.filter((scenario) => titles.has(titleOf(scenario.name)))) {
      const outcome = pool.run({ kind: "crash", scenario: name, all: full() });
      outcome.catch(() => {}); // told of by the test that waits for it
      outcomes.set(name, outcome);
    }
  });

  after(() => pool.close());

  for (const { name } of scenarios) {
    const test: typeof slow = inGate.has(name) ? it : slow;
    test(titleOf(name), async () => {
      const outcome = await outcomes.get(name);
      assert(outcome !== undefined);
      const { ledger, runs, failed, failures } = outcome;
      tally.add(outcome);
      const end = failed === 0 ? "all converged" : `${failed} FAILED`;
      console.log(`  ${name}: ${ledger.length} effects, ${runs} runs, ${end}`);
      ledgers.set(name, ledger);
      assert.equal(failed, 0, failures.join("\n\n"));
      assert.isAbove(runs, 15, "too few places to be ended at");
      const unvisited = ledger.filter((entry) => entry.unvisited.length > 0);
      assert.deepEqual(unvisited, [], "a boundary at which no process ended");
    });
  }

  it("the gate's scenarios are there", () => {
    const names = scenarios.map(({ name }) => name);
    assert.deepEqual(
      [...inGate].filter((name) => !names.includes(name)),
      [],
    );
  });

  slow("came to every state that it is about", () => {
    const all = [...ledgers.values()].flat();
    const points = all.reduce((sum, { killed, rebooted }) => sum + killed.length + rebooted.length, 0);
    const list = new URL("../../dist/sim-crash-points.txt", import.meta.url);
    mkdirSync(new URL(".", list), { recursive: true });
    writeFileSync(list, [...ledgers].map(([name, ledger]) => listOf(name, ledger)).join("\n"));
    console.log(
      `  ${points} ends at ${all.length} effects, each listed in dist/sim-crash-points.txt:\n${summaryOf(all)}`,
    );
    console.log(tally.toString());
    assert.deepEqual(tally.seen.missing(mustBeSeen), []);
  });
});

function titleOf(scenario: string): string {
  return `converges: ${scenario}`;
}

function listOf(name: string, ledger: readonly LedgerEntry[]): string {
  const lines = ledger.map(({ effect, process, what, killed, rebooted, unvisited }) => {
    const missed = unvisited.length === 0 ? "" : ` UNVISITED ${unvisited.join(", ")}`;
    return `  ${effect} ${process} ${what}: killed ${killed.join(", ")}; rebooted ${rebooted.join(", ")}${missed}`;
  });
  return `${name}\n${lines.join("\n")}\n`;
}
