import type { KillFigures } from "./run-kills.ts";

/** What came of it, for people. */
export function figuresOf(figures: KillFigures): string[] {
  const { kills, seconds, kinds, changes, released, looks, afterEvents, phases, violations } = figures;
  return [
    `killed ${kills} times in ${seconds.toFixed(0)} s (${(kills / seconds).toFixed(1)} a second), ${afterEvents} of them right after a journal write or a mount`,
    `${changes} changes of ${kinds.join(", ")}; ${released} releases; ${looks} looks at the table`,
    ...[...phases].sort(([, a], [, b]) => b - a).map(([phase, count]) => `  ${String(count).padStart(6)}  ${phase}`),
    `lost, stacked or leaked: ${violations.length}`,
    ...violations.map((violation) => `  ${violation}`),
  ];
}
