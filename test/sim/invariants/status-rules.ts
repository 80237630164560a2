import { resource } from "../../../src/api/names.ts";
import type { NodeVolumeIntent, NodeVolumeIntentStatus } from "../../../src/api/types.gen.ts";
import type { MountTable } from "../../../src/host/mount-table/mount-table.ts";
import type { ApiRequest } from "../../../src/kube/client/transport.ts";
import type { Change } from "../api/collection.ts";
import { isJson, sameJson } from "../api/json.ts";
import { locate } from "../api/kinds.ts";
import type { Superblock } from "../kernel/superblock.ts";
import type { Machine } from "../machine.ts";
import type { Report } from "./violation.ts";

export interface StatusRulesDeps {
  readonly report: Report;
  machine(node: string): Machine | undefined;
}

/** What a status may say, by the kernel's evidence (law L10, safety rules 3 and 6). */
export class StatusRules {
  readonly #deps: StatusRulesDeps;
  readonly #highest = new Map<string, number>();

  constructor(deps: StatusRulesDeps) {
    this.#deps = deps;
  }

  /** A status that an agent sends. @param tables the newest tables that it has read, newest last */
  sent(request: ApiRequest, tables: readonly MountTable[]): void {
    if (!request.path.endsWith("/status")) return;
    const at = locate(request.path);
    if (at?.kind.resource.plural !== resource.intents.plural || at.subresource !== "status") return;
    const status = isJson(request.body) ? request.body["status"] : undefined;
    for (const mount of (isJson(status) ? (status as NodeVolumeIntentStatus).mounts : undefined) ?? []) {
      if (mount.state !== "Mounted") continue;
      const shown = tables.some((table) => String(table.at(mount.path)?.id) === mount.mountID);
      const observed = mount.mountID === undefined && tables.some((table) => table.at(mount.path) !== undefined);
      if (!shown && !observed) {
        this.#deps.report(
          `L10: ${at.name} says that ${mount.path} is mounted (${mount.mountID}), which no table showed`,
        );
      }
    }
  }

  /** A status that was stored. */
  changed({ object, type, before }: Change): void {
    const intent = object as unknown as NodeVolumeIntent; // the collection holds nothing else
    const { status, metadata } = intent;
    const uid = status.observedUID ?? "";
    const generation = status.observedGeneration ?? 0;
    if (uid !== "" && uid !== metadata.uid) this.#deps.report(`rule 3: status of ${metadata.name} speaks of ${uid}`);
    if (generation > (metadata.generation ?? 0)) {
      this.#deps.report(`L10: status of ${metadata.name} is ahead of its spec: ${generation}`);
    }
    const highest = this.#highest.get(uid) ?? 0;
    if (uid !== "" && generation < highest) {
      this.#deps.report(`L10: observedGeneration of ${metadata.name} went back from ${highest} to ${generation}`);
    }
    this.#highest.set(uid, Math.max(highest, generation));
    // Before it is revoked a volume counts as in use by its grant, and what a status says may be old when it arrives.
    if (type === "DELETED" || status.inUse !== false || uid !== metadata.uid) return;
    if (metadata.deletionTimestamp === undefined || sameJson(before?.["status"], status)) return;
    this.#checkReleased(intent);
  }

  /** Nothing of the volume may be mounted in any namespace of the node, nor be in use without a mount. */
  #checkReleased({ metadata, spec, status }: NodeVolumeIntent): void {
    const machine = this.#deps.machine(spec.nodeName);
    if (machine === undefined || status.agent?.bootID !== machine.kernel.bootID) return;
    for (const namespace of machine.kernel.namespaces()) {
      for (const mount of namespace.mounts) {
        if (mount.volume !== metadata.name) continue;
        // A directory of the host is never held by its users, only a volume of its own is.
        if (spec.source.hostPath !== undefined && namespace !== machine.kernel.host) continue;
        const point = mount.point?.path ?? "?";
        this.#deps.report(
          `rule 6: ${metadata.name} says that it is not in use; ${namespace.name} shows it on ${point}`,
        );
      }
    }
    const disk = machine.disks.get(spec.source.local?.path ?? "");
    if (disk?.filesystem !== undefined && isPinned(machine, disk.filesystem)) {
      this.#deps.report(`rule 6: ${metadata.name} says that it is not in use; a process still has ${disk.name} open`);
    }
  }
}

/** Whether a process uses a file system without a mount of it being left. */
function isPinned(machine: Machine, superblock: Superblock): boolean {
  const attached = machine.kernel.namespaces().flatMap((namespace) => [...namespace.mounts]);
  return superblock.references > attached.filter((mount) => mount.superblock === superblock).length;
}
