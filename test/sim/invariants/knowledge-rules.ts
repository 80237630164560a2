import { resource } from "../../../src/api/names.ts";
import { locate } from "../api/kinds.ts";
import type { Report } from "./violation.ts";

/** Law L1, seen from outside of the agent: what it was told before it unmounts anything. One for each run of an agent. */
export class KnowledgeRules {
  readonly #report: Report;
  /** Whether kubelet has given a path back: its word is enough (safety rule 19). */
  readonly #givenBack: (path: string) => boolean;
  #listed = false;
  #tableRead = false;

  constructor(report: Report, givenBack: (path: string) => boolean) {
    this.#report = report;
    this.#givenBack = givenBack;
  }

  /** All objects of a path have arrived. */
  listed(path: string): void {
    this.#listed ||= locate(path)?.kind.resource === resource.intents;
  }

  tableRead(): void {
    this.#tableRead = true;
  }

  effect(what: string): void {
    const [, , path = ""] = /^((?:child \d+: )?unmount|csi Node(?:Unpublish|Unstage)Volume) (\S+)/.exec(what) ?? [];
    if (path === "") return;
    if (!this.#listed && !this.#givenBack(path)) this.#report(`L1: ${what} before all intents were read`);
    if (!this.#tableRead) this.#report(`L1: ${what} before the mount table was read`);
  }
}
