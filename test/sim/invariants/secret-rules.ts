import type { Report } from "./violation.ts";

/** What stands in every Secret of a simulated world, so that it can be found wherever it leaks to. */
export const secretText = "s3cr3t-do-not-tell";

/** No content of a Secret is ever written to the journal, the API or the log. */
export class SecretRules {
  readonly #report: Report;
  readonly #encoded = Buffer.from(secretText).toString("base64");
  /** Whether there is one at all: in most worlds there is none. */
  #stored = false;

  constructor(report: Report) {
    this.#report = report;
  }

  stored(): void {
    this.#stored = true;
  }

  check(where: string, textOf: () => string): void {
    if (!this.#stored) return;
    const text = textOf();
    if (text.includes(secretText) || text.includes(this.#encoded)) this.#report(`a secret stands in ${where}`);
  }
}
