import type { JournalFile } from "../../../src/host/ports/host-ports.ts";
import { type HostDeps, latency } from "./host-deps.ts";

/** The journal on the machine's disk. An append that was cut off leaves a part of its text, or none of it. */
export class SimJournalFile implements JournalFile {
  readonly #deps: HostDeps;

  constructor(deps: HostDeps) {
    this.#deps = deps;
  }

  read(): Promise<string | undefined> {
    const { journal } = this.#deps.machine;
    return this.#deps.incarnation.look(latency.call, () => {
      journal.doubtful = false;
      return journal.text ?? (journal.begun ? "" : undefined);
    });
  }

  append(text: string): Promise<void> {
    const { machine, incarnation, onJournal } = this.#deps;
    onJournal?.(text);
    const write = (part: string) => {
      machine.journal.text = `${machine.journal.text ?? ""}${part}`;
    };
    const half = () => write(text.slice(0, Math.floor(incarnation.system.random.next() * text.length)));
    return this.#orDoubtful(
      incarnation.effect(`journal append ${namesIn(text)}`, latency.sync, () => write(text), half),
    );
  }

  replace(text: string): Promise<void> {
    const { machine, incarnation, onJournal } = this.#deps;
    onJournal?.(text);
    const replaced = incarnation.effect("journal replace", latency.sync, () => {
      machine.journal.text = text;
      machine.journal.begun = true;
      machine.journal.doubtful = false;
    });
    return this.#orDoubtful(replaced);
  }

  keepCopy(suffix: string): Promise<string> {
    return this.#deps.incarnation.look(latency.sync, () => `journal.${suffix}`);
  }

  async close(): Promise<void> {}

  async #orDoubtful(written: Promise<void>): Promise<void> {
    try {
      await written;
    } catch (error) {
      this.#deps.machine.journal.doubtful = true;
      throw error;
    }
  }
}

/** The volumes that a text speaks of, for the trace. */
function namesIn(text: string): string {
  return [...text.matchAll(/"(?:name|forget)":"([^"]*)","key|"forget":"([^"]*)"/g)].map((m) => m[1] ?? m[2]).join(" ");
}
