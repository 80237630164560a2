import { assert } from "chai";
import { slow } from "../../hack/lib/lanes/slow.ts";
import { full } from "../lib/asserts/requirements.ts";
import type { Job } from "./pool/jobs.ts";
import { Pool } from "./pool/pool.ts";
import { Tally } from "./pool/tally.ts";

/**
 * How many seeds are tried of each kind. NODEVOLUME_SIM_SEEDS, and NODEVOLUME_SIM_FIRST_SEED, say otherwise for all.
 */
// A quarter of the storms are about drivers.
const share = full() ? { storm: 60_000, stories: 20_000, drivers: 20_000 } : { storm: 4_800, stories: 800, drivers: 0 };
/** What the gate has of them: too few to come to every state. */
const few = { storm: 600, stories: 40, drivers: 0 };
type Kind = keyof typeof few;
const asked = Number(process.env["NODEVOLUME_SIM_SEEDS"] || 0);
const first = Number(process.env["NODEVOLUME_SIM_FIRST_SEED"] || 1);
const seedsPerJob = 20;
const mostShown = 3;

/** Faults and states that must have come up where there are CSI drivers. */
const ofDrivers = [
  "csi fault: NodeStageVolume late",
  "csi fault: NodeStageVolume lost",
  "csi fault: NodeStageVolume false",
  "csi fault: NodePublishVolume late",
  "csi fault: NodePublishVolume false",
  "csi fault: NodeUnpublishVolume late",
  "csi fault: NodeUnpublishVolume lost",
  "csi fault: NodeUnstageVolume late",
  "csi fault: NodeUnstageVolume false",
  "csi answer: NodeStageVolume ABORTED",
  "attacher: attachError",
  "attacher: detachError",
  "waiting: DriverMayStillAct",
  "waiting: DriverReplyFalse",
  "waiting: DriverUnavailable",
  "state: WaitingForAttach",
] as const;

/** Faults and states that must have come up. */
const mustBeSeen = {
  storm: [
    "fault: lost",
    "fault: refused",
    "fault: hung",
    "fault: late",
    "fault: 429",
    "fault: 429, Retry-After",
    "fault: 500",
    "fault: 500, carried out",
    "fault: 503",
    "answer: 409",
    "watch fault: refused",
    "watch fault: hung",
    "watch fault: late",
    "watch fault: 410",
    "watch event: BOOKMARK",
    "watch event: ERROR",
    "watch ended: silent",
    "watch ended: reset",
    "watch ended: 410",
    "kill: after bind",
    "kill: torn journal append",
    "reboot: after journal append",
    "host fault: mount table",
    "host error: EIO (planned)",
    "host error: ENOSPC (planned)",
    "host fault: journal append",
    "host fault: journal append, carried out",
    "host fault: bind, carried out",
    "host fault: unmount, carried out",
    "state: Unmounting",
    "waiting: JournalFailed",
    "deleting: still in use",
    "intents: by Index",
    "intents: by Watch",
    ...ofDrivers,
  ],
  drivers: ofDrivers,
  stories: [
    "answer: 409",
    "drift: Missing",
    "drift: OptionsDiffer",
    "state: Degraded",
    "state: Updating",
    "deleting: still in use",
  ],
} as const;

describe("a simulated cluster converges, and nothing forbidden happens on the way", function () {
  this.timeout(100 * 60_000);
  let pool: Pool;

  before(() => {
    pool = new Pool();
  });

  after(() => pool.close());

  const titleOf = (what: string, seeds: number) => `${what}: ${seeds} seeds from ${first}`;

  async function converges(kind: Kind, what: string, seeds: number): Promise<Tally> {
    const jobs: Job[] = [];
    for (let seed = first; seed < first + seeds; seed += seedsPerJob) {
      jobs.push({ kind, firstSeed: seed, seeds: Math.min(seedsPerJob, first + seeds - seed) });
    }
    const outcomes = await Promise.all(jobs.map((job) => pool.run(job)));
    const tally = new Tally();
    for (const outcome of outcomes) tally.add(outcome);
    console.log(`  ${what}:\n${tally}`);
    const failures = outcomes.flatMap((outcome) => outcome.failures);
    const failed = outcomes.reduce((sum, outcome) => sum + outcome.failed, 0);
    assert.equal(failed, 0, failures.slice(0, mostShown).join("\n\n"));
    return tally;
  }

  for (const [kind, what] of [
    ["storm", "the scenarios, while everything fails at random"],
    ["drivers", "the scenarios with CSI drivers alone"],
    ["stories", "people act at random, in fair and in bad weather"],
  ] as const) {
    const seeds = asked === 0 ? share[kind] : asked;
    if (asked === 0 && few[kind] > 0) it(titleOf(what, few[kind]), () => converges(kind, what, few[kind]));
    if (seeds > 0)
      (asked === 0 ? slow : it)(titleOf(what, seeds), async () => {
        const tally = await converges(kind, what, seeds);
        if (asked === 0) assert.deepEqual(tally.seen.missing(mustBeSeen[kind]), []);
      });
  }
});
