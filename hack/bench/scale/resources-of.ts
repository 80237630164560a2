import { readFileSync } from "node:fs";

/** What a process has taken of the machine by now. */
export interface Taken {
  readonly rssMiB: number;
  /** The most that it ever had. */
  readonly peakMiB: number;
  readonly cpuSeconds: number;
}

/** @throws Error if the process is gone */
export function takenBy(pid: number): Taken {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const mib = (field: string) => Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, "m").exec(status)?.[1]) / 1024;
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  // The second field is the name in parentheses, and may itself hold spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return {
    rssMiB: Math.round(mib("VmRSS")),
    peakMiB: Math.round(mib("VmHWM")),
    cpuSeconds: (Number(fields[11]) + Number(fields[12])) / 100,
  };
}
