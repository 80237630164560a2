import type { OperationCall } from "../host/host-deps.ts";
import { layout } from "../machine.ts";
import type { Report } from "./violation.ts";

/**
 * Law L4, seen from the kernel: once a later operation has begun to work on a volume, an earlier one does nothing
 * there.
 */
export class OperationRules {
  readonly #report: Report;
  readonly #volumeAt: (path: string) => string | undefined;
  readonly #latest = new Map<string, number>();

  /** One for each run of an agent, which counts its operations anew. */
  constructor(report: Report, volumeAt: (path: string) => string | undefined) {
    this.#report = report;
    this.#volumeAt = volumeAt;
  }

  called({ operation, path }: OperationCall): void {
    if (!path.startsWith(`${layout.prefix}/`) && !path.startsWith(`${layout.stateDir}/`)) return;
    const volume = this.#volumeAt(path) ?? path;
    const latest = this.#latest.get(volume) ?? operation;
    if (operation < latest) this.#report(`L4: two operations work on ${volume}: ${operation} and ${latest}`);
    this.#latest.set(volume, Math.max(latest, operation));
  }
}
