import type { VolumeRecord } from "../../../src/agent/model/volume-record.ts";
import { type MountIdentity, sameIdentity } from "../../../src/host/mount-table/mount-table.ts";
import type { MountAttributes } from "../../../src/host/ports/types.ts";
import type { Dentry, Maker } from "../kernel/dentry.ts";
import type { Disk } from "../kernel/disk.ts";
import { pathOf, rootOf, walk } from "../kernel/lookup.ts";
import type { Mount, Namespace, Path } from "../kernel/mount.ts";
import { layout, type Machine } from "../machine.ts";
import type { IntentHistory } from "./intent-history.ts";
import type { JournalView } from "./journal-view.ts";
import type { Report } from "./violation.ts";

export interface MountRulesDeps {
  readonly journal: JournalView;
  readonly intents: IntentHistory;
  readonly report: Report;
  /** The mount namespace that the agent of a machine is in now. */
  agentNamespace(machine: Machine): Namespace | undefined;
}

const staging = `${layout.stateDir}/staging/`;
const data = `${layout.stateDir}/data/`;
const csi = `${layout.csiDir}/`;
const trash = `${layout.stateDir}/trash`;

/** What must never happen to mounts and files, checked at each change of the kernel that the agent makes. */
export class MountRules {
  readonly #deps: MountRulesDeps;

  constructor(deps: MountRulesDeps) {
    this.#deps = deps;
  }

  attached(machine: Machine, mount: Mount, actor: Maker): void {
    if (actor !== "agent" || mount.parent === undefined || mount.point === undefined) return;
    const { report } = this.#deps;
    const at: Path = { mount: mount.parent, dentry: mount.point };
    const path = pathOf(at) ?? "?";
    if (mount.parent.root === mount.point) report(`L9: ${path} was mounted on top of another mount`);
    if (mount.children.size > 0) report(`L9: ${path} was mounted beneath another mount`);
    if (mount.namespace !== this.#deps.agentNamespace(machine) || isCopy(path)) return;
    const identity = identityOf(mount);
    const record = this.#deps.journal.recordOf(machine, path, identity);
    if (path.startsWith(staging)) {
      if (record?.stage?.path !== path) report(`journal before effect: nothing says that ${path} is being staged`);
    } else {
      const target = record?.targets.find((t) => t.path === path);
      if (target === undefined || !sameIdentity(target.identity, identity)) {
        report(`journal before effect: nothing says that ${identity.device} ${identity.root} goes to ${path}`);
      }
    }
  }

  detached(machine: Machine, mount: Mount, from: Path, actor: Maker): void {
    if (actor !== "agent") return;
    const path = pathOf(from) ?? "?";
    const { report, journal, agentNamespace } = this.#deps;
    if (mount.maker === "system") report(`L6: ${path} of the system was unmounted`);
    if (from.mount.namespace !== agentNamespace(machine) || isCopy(path)) return;
    const record = journal.recordOf(machine, path, identityOf(mount));
    if (record === undefined) {
      report(`L6: ${path} was unmounted, which no record covers`);
      return;
    }
    if (mount.maker !== "agent" && !this.#mayAdopt(record))
      report(`L6: ${path}, mounted by a ${mount.maker}, was unmounted`);
    if (path.startsWith(staging)) this.#unstaged(machine, record, mount);
    else this.#unpublished(machine, record, mount, path);
  }

  removed(machine: Machine, dentry: Dentry, actor: Maker): void {
    if (actor !== "agent" || dentry.path.startsWith(`${trash}/`)) return;
    // What a driver made on our own path, and left there although it said that it did not, is ours to take (safety rule
    // 24).
    const left = dentry.maker === "driver" && dentry.path.startsWith(csi);
    if (dentry.maker !== "agent" && !left)
      this.#deps.report(`L6: ${dentry.path}, made by a ${dentry.maker}, was removed`);
    if (!dentry.path.startsWith(data) || dentry.kind !== "directory") return;
    const record = this.#deps.journal.recordOf(machine, dentry.path);
    if (
      record !== undefined &&
      !this.#deps.intents.gaveUpAll(record.name, record.uid, this.#since(machine, record.uid))
    ) {
      this.#deps.report(`data of ${record.name}, which is wanted, was removed`);
    }
  }

  formatted(disk: Disk): void {
    if (!disk.empty && !disk.cutOff) this.#deps.report(`L11: ${disk.name} was formatted, which was not empty`);
    if (disk.mounted) this.#deps.report(`L11: ${disk.name} was formatted while it was mounted`);
  }

  #unstaged(machine: Machine, record: VolumeRecord, mount: Mount): void {
    const { intents, report } = this.#deps;
    const namespace = this.#deps.agentNamespace(machine);
    const left = record.targets.find(
      ({ path }) =>
        namespace !== undefined && walk(rootOf(namespace), path, "keepLast")?.mount.superblock === mount.superblock,
    );
    if (left !== undefined) report(`L3: ${record.name} was unstaged while ${left.path} was mounted`);
    if (
      intents.gaveUpAll(record.name, record.uid, this.#since(machine, record.uid)) ||
      intents.changedOptions(record.name, record.uid)
    )
      return;
    report(`${record.name}, which is wanted, was unstaged`);
  }

  #unpublished(machine: Machine, record: VolumeRecord, mount: Mount, path: string): void {
    const { intents, report } = this.#deps;
    const target = record.targets.find((t) => t.path === path);
    const uid = target?.uid ?? "";
    const isOfPod = path.startsWith(`${layout.podsDir}/`);
    if (machine.isNotPublished(path)) return;
    const wanted = isOfPod || !intents.gaveUp(record.name, uid, path, this.#since(machine, uid));
    if (!wanted || intents.changedOptions(record.name, uid)) return;
    if (intents.changedFlags(record.name, uid, path) || this.#isOutdated(machine, record, mount)) return;
    if (!sameFlags(mount.attributes, target?.attributes) || differsOnHost(machine, mount, path)) return;
    report(`${path} was unmounted, which ${record.name} (${uid}) wants`);
  }

  /** The mount shows something else than the volume's source does now. */
  #isOutdated(machine: Machine, { stage }: VolumeRecord, mount: Mount): boolean {
    const namespace = this.#deps.agentNamespace(machine);
    if (stage === undefined || namespace === undefined) return false;
    const source = walk(rootOf(namespace), stage.path, "keepLast");
    return source?.dentry !== mount.root;
  }

  #since(machine: Machine, uid: string): number {
    return this.#deps.journal.highestGeneration(machine, uid);
  }

  #mayAdopt(record: VolumeRecord): boolean {
    return this.#deps.intents.of(record.name).some(({ spec }) => spec.adopt === "IfSame");
  }
}

/** The host does not have it, or with other flags, which only another mount brings there. */
function differsOnHost(machine: Machine, mount: Mount, path: string): boolean {
  const copy = walk(rootOf(machine.kernel.host), path, "keepLast")?.mount;
  return copy?.root !== mount.root || !sameFlags(copy.attributes, mount.attributes);
}

function identityOf(mount: Mount): MountIdentity {
  return { device: mount.superblock.device, root: mount.root.path };
}

function sameFlags(a: MountAttributes, b: MountAttributes | undefined): boolean {
  return Object.entries(a).every(([flag, value]) => b?.[flag as keyof MountAttributes] === value);
}

/** The agent's view of the host repeats what it mounts; the first of the two is looked at. */
function isCopy(path: string): boolean {
  const own = [layout.prefix, layout.stateDir, layout.podsDir];
  return !own.some((directory) => path.startsWith(`${directory}/`));
}
