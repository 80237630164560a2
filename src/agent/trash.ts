import { messageOf } from "../errors.ts";
import type { Directories } from "../host/ports.ts";
import type { Cancel, System } from "../ports.ts";

/** When what could not be removed is tried again, in milliseconds: it may be gigabytes. */
const againMs = 60_000;

/** Has the trash emptied, again and again until it is. */
export class Trash {
  readonly #system: System;
  readonly #directories: Pick<Directories, "emptyTrash">;
  #again: Cancel = () => {};

  constructor(system: System, directories: Pick<Directories, "emptyTrash">) {
    this.#system = system;
    this.#directories = directories;
  }

  empty(): void {
    this.#again();
    this.#directories.emptyTrash().catch((error: unknown) => {
      this.#system.log.error("the trash was not emptied", { error: messageOf(error) });
      this.#again();
      this.#again = this.#system.timers.after(againMs, () => this.empty());
    });
  }

  stop(): void {
    this.#again();
  }
}
