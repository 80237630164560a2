import { resource } from "../../../src/api/names.ts";
import type { NodeVolumeState } from "../../../src/api/types.gen.ts";
import { locate } from "../api/kinds.ts";
import type { Report } from "./violation.ts";

/**
 * Law L1, seen from outside of the agent: what it was told before it unmounts anything. One for each run of an agent.
 */
export class KnowledgeRules {
  readonly #report: Report;
  /** Whether kubelet has given a path back: its word is enough (safety rule 19). */
  readonly #unpublished: (path: string) => boolean;
  #listed = false;
  /** What the first index that was shown names and was not read yet. */
  #indexed: Set<string> | undefined;
  #tableRead = false;

  constructor(report: Report, unpublished: (path: string) => boolean) {
    this.#report = report;
    this.#unpublished = unpublished;
  }

  /** All objects of a path have arrived. */
  listed(path: string): void {
    this.#listed ||= locate(path)?.kind.resource === resource.intents;
  }

  /** A line of a watch has arrived. */
  shown(path: string, line: object): void {
    if (this.#indexed !== undefined || locate(path)?.kind.resource !== resource.states) return;
    const { object } = line as { object?: Pick<NodeVolumeState, "spec"> };
    const intents = object?.spec?.intents;
    if (intents !== undefined) this.#indexed = new Set(intents.map(({ name }) => name));
  }

  /** One object was read. */
  read(path: string): void {
    const at = locate(path);
    if (at?.kind.resource === resource.intents && at.name !== undefined) this.#indexed?.delete(at.name);
  }

  tableRead(): void {
    this.#tableRead = true;
  }

  effect(what: string): void {
    const [, , path = ""] = /^((?:child \d+: )?unmount|csi Node(?:Unpublish|Unstage)Volume) (\S+)/.exec(what) ?? [];
    if (path === "") return;
    const known = this.#listed || this.#indexed?.size === 0;
    if (!known && !this.#unpublished(path)) this.#report(`L1: ${what} before all intents were read`);
    if (!this.#tableRead) this.#report(`L1: ${what} before the mount table was read`);
  }
}
