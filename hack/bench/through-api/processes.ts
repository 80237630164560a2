import { readFileSync } from "node:fs";
import type { Sample } from "../report/row.ts";
import type { BenchCluster } from "./cluster.ts";

/** Milliseconds of processor time that a process has had. The kernel counts in ticks of 10 ms. */
export function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  // The second field is the name in parentheses, and may itself hold spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

export function residentMiB(pid: number): number {
  const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kib) / 1024;
}

/** Where the processors' time goes: by whom it is had from now until the function that is returned is called. */
export function meterProcessors({ plane, agent }: BenchCluster): () => Sample {
  const pids = { apiServer: plane.apiServer().pid, etcd: plane.etcd.pid, agent: agent().pid, benchmark: process.pid };
  const read = () => Object.entries(pids).map(([name, pid]) => [`${name}CpuMs`, cpuMs(pid)] as const);
  const before = new Map(read());
  return () => Object.fromEntries(read().map(([name, ms]) => [name, ms - (before.get(name) ?? 0)]));
}
