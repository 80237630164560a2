import type { NodeVolumeIntentStatus } from "../../../src/api/types.gen.ts";
import type { Slot } from "../kills/churn.ts";

/** Lines that are kept of each volume. */
const most = 20;

/**
 * What was lately asked of each volume, and what the agent said of it: whoever finds something wrong wants to know how
 * it came.
 */
export class History {
  readonly #lines = new Map<string, string[]>();
  readonly #known = new Map<string, string>();
  readonly #began = performance.now();

  told(name: string, { state, observedUID, observedGeneration, waiting }: NodeVolumeIntentStatus): void {
    const why = waiting === undefined ? "" : `, waits for ${waiting.reason}`;
    this.#note(name, `says ${state} of ${observedUID} ${observedGeneration}${why}`);
  }

  /** Notes what has changed since the last time. */
  wanted(slots: readonly Slot[]): void {
    for (const { name, life } of slots) {
      if (life === undefined) continue;
      const where = [...life.mounts].map(([path, readOnly]) => `${path} ${readOnly ? "ro" : "rw"}`).join(", ");
      const now = `${life.uid} ${life.generation} ${life.revoked ? "revoked" : `on ${where}`}`;
      if (this.#known.get(name) !== now) this.#note(name, `wanted ${now}`);
      this.#known.set(name, now);
    }
  }

  /** Of the volumes that a violation names. */
  of(violation: string): string[] {
    const named = [...this.#lines].filter(([name]) => violation.includes(`${name}-`));
    return named.flatMap(([, lines]) => lines.map((line) => `    ${line}`));
  }

  #note(name: string, what: string): void {
    const lines = this.#lines.get(name) ?? [];
    lines.push(`${(performance.now() - this.#began).toFixed(0)} ms: ${name} ${what}`);
    this.#lines.set(name, lines.slice(-most));
  }
}
