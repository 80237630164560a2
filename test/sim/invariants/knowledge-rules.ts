import { resource } from "../../../src/api/names.ts";
import { locate } from "../api/kinds.ts";
import type { Report } from "./violation.ts";

/** Law L1, seen from outside of the agent: what it was told before it unmounts anything. One for each run of an agent. */
export class KnowledgeRules {
  readonly #report: Report;
  #listed = false;
  #tableRead = false;

  constructor(report: Report) {
    this.#report = report;
  }

  /** All objects of a path have arrived. */
  listed(path: string): void {
    this.#listed ||= locate(path)?.kind.resource === resource.intents;
  }

  tableRead(): void {
    this.#tableRead = true;
  }

  effect(what: string): void {
    if (!/^((child \d+: )?unmount|csi Node(Unpublish|Unstage)Volume) /.test(what)) return;
    if (!this.#listed) this.#report(`L1: ${what} before all intents were read`);
    if (!this.#tableRead) this.#report(`L1: ${what} before the mount table was read`);
  }
}
