// What it costs to keep the mount table, for each tier and for reading it anew, at 100, 1,000 and 10,000 mounts:
//   sudo node hack/bench/mount-index.ts [--mounts 100,1000,10000] [--rounds 9] [--json FILE]
// Processor time of a look after each mount and unmount, lookup of one path included, without that of the mount calls.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import koffi from "koffi";
import { allTiers, LinuxMountTable } from "../../src/host/linux/mount-table/linux-mount-table.ts";
import { MountTable } from "../../src/host/mount-table/mount-table.ts";
import { parseMountinfo } from "../../src/host/mount-table/mountinfo.ts";
import type { Logger } from "../../src/ports.ts";
import { realSystem } from "../../src/system.ts";

const MS = { BIND: 4096 } as const;
const DETACH = 2;
/** Mounts and unmounts of one round. */
const operations = 100;

interface Row {
  readonly mounts: number;
  readonly kept: string;
  readonly openMs: number;
  readonly usPerOperation: number;
  readonly compareMs: number;
}

const { values } = parseArgs({
  options: {
    mounts: { type: "string", default: "100,1000,10000" },
    rounds: { type: "string", default: "9" },
    json: { type: "string" },
    inside: { type: "boolean", default: false },
  },
});

if (values.inside) {
  const results: Row[] = [];
  for (const mounts of values.mounts.split(","))
    results.push(...(await measure(Number(mounts), Number(values.rounds))));
  print(results);
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(results, undefined, 1)}\n`);
} else {
  // A namespace of its own: whatever is mounted here ends with it.
  const args = ["-m", "--propagation", "private", process.execPath, ...process.argv.slice(1), "--inside"];
  process.exitCode = spawnSync("unshare", args, { stdio: "inherit" }).status ?? 1;
}

/** One way to look at the table. */
interface Way {
  readonly kept: string;
  look(): Promise<MountTable>;
  compare(): void;
  close(): void;
}

async function measure(mounts: number, rounds: number): Promise<Row[]> {
  const lib = koffi.load(null);
  const mount = lib.func("int mount(str source, str target, str type, ulong flags, str data)");
  const umount = lib.func("int umount2(str target, int flags)");
  const top = mkdtempSync(join(tmpdir(), "nvo-bench-"));
  mount("bench", top, "tmpfs", 0, null);
  for (const name of ["source", "many", "one"]) mkdirSync(`${top}/${name}`);
  for (let at = 0; at < mounts; at++) {
    const path = `${top}/many/${at}`;
    mkdirSync(path);
    if (mount(`${top}/source`, path, "", MS.BIND, null) !== 0) throw new Error(`mount ${at}: errno ${koffi.errno()}`);
  }
  const one = `${top}/one`;
  const operate = async (look: (() => Promise<MountTable>) | undefined): Promise<number> => {
    const before = process.cpuUsage();
    for (let at = 0; at < operations / 2; at++) {
      mount("bench", one, "tmpfs", 0, null);
      if ((await look?.())?.at(one) === undefined && look !== undefined) throw new Error("the mount was not seen");
      umount(one, 0);
      if ((await look?.())?.at(one) !== undefined) throw new Error("the unmount was not seen");
    }
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };
  const rows: Row[] = [];
  for (const open of [...allTiers.map((tier) => () => keep(tier)), anew]) {
    const begun = process.cpuUsage();
    const way = open();
    await way.look();
    const opened = process.cpuUsage(begun);
    const costs: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const bare = await operate(undefined);
      await way.look();
      costs.push((await operate(() => way.look())) - bare);
    }
    const comparing = process.cpuUsage();
    for (let round = 0; round < rounds; round++) way.compare();
    const compared = process.cpuUsage(comparing);
    way.close();
    rows.push({
      mounts,
      kept: way.kept,
      openMs: (opened.user + opened.system) / 1_000,
      usPerOperation: median(costs) / operations,
      compareMs: (compared.user + compared.system) / 1_000 / rounds,
    });
  }
  umount(top, DETACH);
  rmSync(top, { recursive: true });
  return rows;
}

function keep(tier: (typeof allTiers)[number]): Way {
  const log: Logger = { debug() {}, info() {}, warn() {}, error() {}, child: () => log };
  const table = new LinuxMountTable("self", realSystem(log), [tier]);
  return { kept: tier, look: () => table.read(), compare: () => table.resync(), close: () => table.close() };
}

/** As it was before there was an index: the whole text is read and parsed at each look. */
function anew(): Way {
  const look = async () => new MountTable(parseMountinfo(readFileSync("/proc/self/mountinfo", "utf8")));
  return { kept: "read anew", look, compare: () => void look(), close() {} };
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function print(rows: readonly Row[]): void {
  console.log("| mounts | kept by | look after a change, µs of CPU | whole comparison, ms | begin, ms |");
  console.log("|---|---|---|---|---|");
  for (const { mounts, kept, openMs, usPerOperation, compareMs } of rows) {
    console.log(
      `| ${mounts} | ${kept} | ${usPerOperation.toFixed(0)} | ${compareMs.toFixed(2)} | ${openMs.toFixed(1)} |`,
    );
  }
}
