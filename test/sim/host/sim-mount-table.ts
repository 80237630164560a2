import type { MountTable } from "../../../src/host/mount-table/mount-table.ts";
import type { MountTableSource } from "../../../src/host/ports/host-ports.ts";
import type { Cancel } from "../../../src/ports.ts";
import type { Namespace } from "../kernel/mount.ts";
import { type HostDeps, latency } from "./host-deps.ts";

/** The mount table of one namespace. */
export class SimMountTable implements MountTableSource {
  readonly #deps: HostDeps;
  readonly #namespace: Namespace;

  constructor(deps: HostDeps, namespace: Namespace) {
    this.#deps = deps;
    this.#namespace = namespace;
  }

  read(): Promise<MountTable> {
    const { machine, incarnation, onTable } = this.#deps;
    return incarnation.look(latency.call, () => {
      incarnation.readTable();
      if (this.#namespace === this.#deps.namespace) onTable();
      return machine.table(this.#namespace);
    });
  }

  /** Changes that come together are told of once, as poll(2) does it. */
  watch(onChange: () => void): Cancel {
    const { incarnation } = this.#deps;
    const namespace = this.#namespace;
    let pending = false;
    let cancelled = false;
    const changed = () => {
      if (pending || cancelled) return;
      pending = true;
      incarnation.later(latency.notice, () => {
        pending = false;
        if (!cancelled) onChange();
      });
    };
    namespace.watchers.add(changed);
    changed();
    return () => {
      cancelled = true;
      namespace.watchers.delete(changed);
    };
  }
}
