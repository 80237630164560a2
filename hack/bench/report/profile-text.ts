import type { Profiled } from "../in-agent/profile-run.ts";

type Entries = readonly (readonly [string, number])[];

/** Lines that each table has at most, but for the last, which has the rest. */
const most = 24;
/** Functions that take less of the time, in parts of it, are in the last line. */
const least = 0.01;

/**
 * PURE. As Markdown: what the agent's thread did while volumes were mounted and unmounted, and how often what was done.
 */
export function profileText(profiled: Profiled): string {
  const { volumes, mount, unmount } = profiled;
  return [
    ...(["unmount", "mount"] as const).map((phase) => timesTable(phase, profiled)),
    countsTable(`counted, of ${volumes} volumes`, mount.counts, unmount.counts, volumes),
    ...(mount.calls && unmount.calls
      ? [countsTable("system calls of all threads", mount.calls, unmount.calls, volumes)]
      : []),
  ].join("\n\n");
}

function timesTable(phase: "mount" | "unmount", { volumes, [phase]: { ms, times } }: Profiled): string {
  const sorted = times.toSorted(([, a], [, b]) => b - a);
  const total = sum(times);
  const shown = sorted.slice(0, most).filter(([, time]) => time >= least * total);
  const rows = [...shown, ["all else", sum(sorted.slice(shown.length))] as const].map(
    ([name, time]) => [name, `${((100 * time) / total).toFixed(1)} %`, (time / volumes).toFixed(3)] as const,
  );
  return table(
    [`the agent's thread, ${phase}: ${Math.round(ms)} ms of ${volumes} volumes`, "share", "ms a volume"],
    rows,
  );
}

/** By the larger of the two; what happens less than once in a hundred volumes is left out. */
function countsTable(title: string, mount: Entries, unmount: Entries, volumes: number): string {
  const [mounts, unmounts] = [new Map(mount), new Map(unmount)];
  const names = [...new Set([...mounts.keys(), ...unmounts.keys()])];
  const largest = (name: string) => Math.max(mounts.get(name) ?? 0, unmounts.get(name) ?? 0);
  const shown = names.filter((name) => largest(name) >= volumes / 100).sort((a, b) => largest(b) - largest(a));
  const rows = shown.map((name) => {
    const a = (counts: ReadonlyMap<string, number>) => ((counts.get(name) ?? 0) / volumes).toFixed(2);
    return [name, a(mounts), a(unmounts)] as const;
  });
  return table([title, "a mount", "an unmount"], rows);
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const rule = head.map((_, column) => (column === 0 ? "---" : "--:"));
  return [head, rule, ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

function sum(entries: Entries): number {
  return entries.reduce((all, [, value]) => all + value, 0);
}
