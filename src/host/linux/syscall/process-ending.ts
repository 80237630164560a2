/** How a process has ended: one of both is not null. */
export interface Ending {
  readonly code: number | null;
  /** As SIGKILL. */
  readonly signal: string | null;
}

/**
 * PURE.
 * @param status as waitpid(2) gives it of a process that has ended
 * @param signals number of each signal, by name
 */
export function endingOf(status: number, signals: Readonly<Record<string, number>>): Ending {
  const number = status & 0x7f; // 0x80 beside it: it left a core
  if (number === 0) return { code: (status >> 8) & 0xff, signal: null };
  const [name] = Object.entries(signals).find(([, value]) => value === number) ?? [];
  return { code: null, signal: name ?? `signal ${number}` };
}
