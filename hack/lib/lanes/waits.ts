// What the tests of this process are waiting for at the moment: said by a test that hits its limit.

interface Wait {
  readonly what: string;
  /** Milliseconds, performance.now(). */
  readonly since: number;
}

const waits = new Set<Wait>();

/** Notes a wait while it lasts. */
export async function whileWaitingFor<T>(what: string, wait: () => Promise<T>): Promise<T> {
  const entry = { what, since: performance.now() };
  waits.add(entry);
  try {
    return await wait();
  } finally {
    waits.delete(entry);
  }
}

/** Those of a test that has ended, which nobody ends any more. */
export function forgetWaits(): void {
  waits.clear();
}

/** One line for each wait that goes on. */
export function waitsNow(): string[] {
  return [...waits].map(
    ({ what, since }) => `was waiting for ${what} for ${((performance.now() - since) / 1000).toFixed(1)} s`,
  );
}
