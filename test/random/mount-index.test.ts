import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { slow } from "../../hack/lib/lanes/slow.ts";
import { pidOf } from "../../hack/lib/pid-of.ts";
import { silent } from "../../hack/lib/silent-log.ts";
import { until } from "../../hack/lib/until.ts";
import { LinuxMountTable } from "../../src/host/linux/mount-table/linux-mount-table.ts";
import { loadLibc } from "../../src/host/linux/syscall/libc.ts";
import type { MountTable } from "../../src/host/mount-table/mount-table.ts";
import type { MountTier } from "../../src/host/mount-table/mount-table-source.ts";
import { type MountEntry, parseMountinfo, sameEntry } from "../../src/host/mount-table/mountinfo.ts";
import type { Logger, System } from "../../src/ports.ts";
import { realSystem } from "../../src/system.ts";
import { full, need } from "../lib/asserts/requirements.ts";
import { tiersHere } from "../lib/kernel/mount-tier.ts";
import { MountChurn } from "../lib/mount-churn/churn.ts";
import { type ChurnName, churnNames, type Told } from "../lib/mount-churn/operations.ts";
import { type KernelCalls, loadKernelCalls, MS } from "../sim/differential/kernel-calls.ts";
import { SeededRandom } from "../sim/random.ts";

const firstSeed = Number(process.env["NODEVOLUME_SIM_FIRST_SEED"] ?? 1);
const stories = Number(process.env["NODEVOLUME_SIM_SEEDS"] ?? (full() ? 400 : 25));
const stepsOfStory = 100;
const logged: string[] = [];
const log: Logger = {
  ...silent,
  info: (message, meta) => logged.push(`${message} ${JSON.stringify(meta)}`),
  child: () => log,
};
// Comparing takes no time by this clock, so that what the kernel tells of options need not wait.
const system: System = { ...realSystem(log), clock: { now: () => 0, monotonic: () => 0 } };
const detach = 2;

/** The table of one namespace, kept in one way. */
interface Kept {
  readonly who: string;
  readonly tier: MountTier;
  readonly process: number | "self";
  readonly table: LinuxMountTable;
  readonly mountinfo: string;
  last: MountTable;
}

describe("the tiers of the mount table, on the real kernel", () => {
  const opened: LinuxMountTable[] = [];
  const children: ChildProcess[] = [];
  const calls = loadKernelCalls();
  let tiers: readonly MountTier[];

  before(async function () {
    need(this, "root");
    tiers = await tiersHere();
    expect(tiers, "every kernel has it").to.include("mountinfo");
  });
  afterEach(() => {
    for (const table of opened.splice(0)) table.close();
    for (const child of children.splice(0)) child.kill("SIGKILL");
  });

  /** A process in a namespace of its own, which what is mounted here reaches. */
  async function slave(): Promise<number> {
    const child = spawn("unshare", ["-m", "--propagation", "slave", "sleep", "infinity"], { stdio: "ignore" });
    children.push(child);
    const pid = pidOf(child);
    await until(
      "a process in a namespace of its own",
      10_000,
      () => readFileSync(`/proc/${pid}/comm`, "utf8") === "sleep\n",
    );
    return pid;
  }

  /** Linux 6.5 brought mounts beneath others, and is not asked for; one with fanotify of mounts is newer. */
  const isKnown = (name: ChurnName) => name !== "moveBeneath" || tiers.includes("fanotify");

  async function keep(process: number | "self"): Promise<Kept[]> {
    return Promise.all(
      tiers.map(async (tier): Promise<Kept> => {
        const table = new LinuxMountTable(process, system, [tier]);
        opened.push(table);
        return {
          tier,
          who: `${tier} of ${process}`,
          process,
          table,
          mountinfo: `/proc/${process}/mountinfo`,
          last: await table.read(),
        };
      }),
    );
  }

  slow(
    "tell what mountinfo tells after any operation, in our namespace and in one that ours reaches",
    async function () {
      this.timeout(full() ? 2_400_000 : 180_000);
      const counts = new Map(churnNames.map((name) => [name, { done: 0, refused: 0 }]));
      for (let seed = firstSeed; seed < firstSeed + stories; seed++) {
        using place = playground(calls, seed % 2 === 0 ? MS.SHARED : MS.PRIVATE);
        const churn = new MountChurn(new SeededRandom(seed, "churn"), calls, loadLibc(), place.path);
        const all = [...(await keep("self")), ...(await keep(await slave()))];
        const told: string[] = [];
        for (let step = 0; step < stepsOfStory; step++) {
          const batch = Array.from({ length: 1 + (step % 3) }, () => churn.step());
          told.push(...batch.map(({ name, failed = "" }) => `${name} ${failed}`));
          // What comes together may be told in one word.
          const [one] = batch;
          const asTold = batch.length === 1 ? (one?.told ?? "nothing") : "nothing";
          for (const kept of all) await compare(kept, asTold, `seed ${seed}: ${told.slice(-6).join(", ")}`);
        }
        for (const [name, { done, refused }] of churn.counts) {
          const count = counts.get(name) ?? { done: 0, refused: 0 };
          counts.set(name, { done: count.done + done, refused: count.refused + refused });
        }
        for (const table of opened.splice(0)) table.close();
        for (const child of children.splice(0)) child.kill("SIGKILL");
      }
      const lines = [...counts].map(([name, { done, refused }]) => `${name} ${done} (refused ${refused})`);
      console.log(`      ${tiers.join(", ")}: ${lines.join(", ")}`);
      for (const [name, { done }] of counts) if (isKnown(name)) expect(done, name).to.be.greaterThan(0);
    },
  );

  it("a process whose root is not that of its namespace is shown by mountinfo: the other ways go by the namespace", async () => {
    using place = playground(calls, MS.PRIVATE);
    const script = `mount --rbind / "${place.path}" && exec chroot "${place.path}" sleep infinity`;
    const child = spawn("unshare", ["-m", "sh", "-c", script], { stdio: "ignore" });
    children.push(child);
    const pid = pidOf(child);
    await until(
      "a process with a root of its own",
      10_000,
      () => readFileSync(`/proc/${pid}/comm`, "utf8") === "sleep\n",
    );
    const table = new LinuxMountTable(pid, system);
    opened.push(table);
    const shown = parseMountinfo(readFileSync(`/proc/${pid}/mountinfo`, "utf8"));
    expect((await table.read()).entries.map(({ point }) => point)).to.deep.equal(shown.map(({ point }) => point));
    expect(table.status().tier).to.equal("mountinfo");
  });
});

/** A directory on a file system of its own, shared or private, that goes with all that is mounted beneath it. */
function playground(calls: KernelCalls, type: number): Disposable & { readonly path: string } {
  const top = mkdtempSync(join(tmpdir(), "nvo-churn-"));
  calls.mount("churn", top, "tmpfs", 0);
  calls.mount("", top, "", type);
  const path = `${top}/in`;
  mkdirSync(path);
  return {
    path,
    [Symbol.dispose]() {
      calls.umount(top, detach);
      rmSync(top, { recursive: true });
    },
  };
}

/** Looks whether a table is what the kernel shows, and whether it says itself what has changed. */
async function compare(kept: Kept, told: Told, when: string): Promise<void> {
  const { process } = kept;
  // Options of a file system, and who is the master of a mount, change in other namespaces too, and are not told there.
  const untoldHere = process === "self" ? told === "nothing" : told !== "mounts";
  if (untoldHere) kept.table.resync();
  const masterless = !untoldHere && process !== "self";
  const now = await kept.table.read();
  expect(kept.table.status().tier, logged.at(-1)).to.equal(kept.tier);
  const shown = parseMountinfo(readFileSync(kept.mountinfo, "utf8"));
  const difference = firstDifference(now.entries.map(withoutUnique), shown, masterless);
  if (difference !== undefined) throw new Error(`${kept.who}, ${when}\n${difference}\n${logged.slice(-5).join("\n")}`);
  const changes = new Set(now.changesSince(kept.last));
  const [before, after] = [new Set(kept.last.entries), new Set(now.entries)];
  const untold = [...before, ...after].filter(
    (mount) => !(before.has(mount) && after.has(mount)) && !changes.has(mount),
  );
  if (untold.length > 0) throw new Error(`${kept.who}, ${when}\nnot in changesSince: ${JSON.stringify(untold[0])}`);
  kept.last = now;
}

function withoutUnique({ uniqueID: _unique, ...rest }: MountEntry): MountEntry {
  return rest;
}

function firstDifference(
  now: readonly MountEntry[],
  shown: readonly MountEntry[],
  masterless: boolean,
): string | undefined {
  for (let at = 0; at < Math.max(now.length, shown.length); at++) {
    const [one, other] = [now[at], shown[at]].map((mount) => (mount && masterless ? { ...mount, master: 0 } : mount));
    if (one !== undefined && other !== undefined && sameEntry(one, other)) continue;
    const [has, should] = [JSON.stringify(sorted(one)), JSON.stringify(sorted(other))];
    if (has !== should) return `has    ${has}\nshould ${should}`;
  }
  return undefined;
}

function sorted(mount: MountEntry | undefined): object {
  return Object.fromEntries(Object.entries(mount ?? {}).sort(([a], [b]) => (a < b ? -1 : 1)));
}
