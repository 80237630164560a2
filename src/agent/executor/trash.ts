import { messageOf } from "../../errors.ts";
import type { Directories } from "../../host/ports/host-ports.ts";
import { stagesItself } from "../../plugins/api/volume-plugin.ts";
import { plugins } from "../../plugins/registry.ts";
import type { Cancel, System } from "../../ports.ts";
import type { VolumeName } from "../model/identities.ts";
import type { Operation } from "../model/operation.ts";
import type { VolumeRecord } from "../model/volume-record.ts";

/** When what could not be removed is tried again, in milliseconds: it may be gigabytes. */
const againMs = 60_000;

/** Whether an operation that ended may have thrown something away. */
export function throwsAway(
  { kind, volume }: Operation,
  failure: unknown,
  records: ReadonlyMap<VolumeName, VolumeRecord> | undefined,
): boolean {
  if (kind === "unstage") return failure === undefined;
  const type = records?.get(volume)?.type;
  const plugin = type && plugins[type];
  return kind === "stage" && plugin !== undefined && stagesItself(plugin) && plugin.discards === true;
}

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
