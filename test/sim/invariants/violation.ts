/** Something happened that must never happen. */
export class Violation extends Error {
  override readonly name = "Violation";
}

/** Reports a violation; the run ends with the first one. */
export type Report = (message: string) => void;
