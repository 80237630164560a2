import { intent } from "../../../hack/lib/agent-on-kernel/intent.ts";
import type { NodeVolumeIntent } from "../../../src/api/types.gen.ts";
import type { Randomly } from "../builders/randomly.ts";
import { somebodysLabel } from "./contents.ts";
import type { Disk } from "./disk.ts";
import type { DisksOfWorld } from "./disks-of-world.ts";
import type { Naming } from "./focus.ts";

export interface Placed {
  readonly name: string;
  readonly target: string;
  /** Whether nobody names a disk of this world by where it is. */
  readonly onlyFields: boolean;
  /** How it names its disk, if that is not left to chance. */
  readonly naming?: Naming | undefined;
  /** The device that it names, if that is not left to chance: with a file system. */
  readonly device?: string;
}

/** A volume of a world, as people want it. */
export class Wanted {
  readonly name: string;
  readonly naming: Naming;
  readonly #source: object;
  readonly #target: string;
  readonly #how: { readonly fsType?: "ext4"; readonly volumeMode?: "Block" };
  #generation = 1;
  deleting = false;
  /** What it may destroy, as a message has named it. */
  destroys: string | undefined;
  /** By device, which disk it was when the agent last read it for this volume, and how often that had been changed. */
  readonly read = new Map<string, { readonly disk: Disk; readonly changes: number }>();

  constructor({ name, target, onlyFields, naming, device }: Placed, disks: DisksOfWorld, randomly: Randomly) {
    this.name = name;
    this.#target = target;
    const named: readonly Naming[] = onlyFields ? [] : ["device", "device", "device", "device", "link"];
    const aliased: readonly Naming[] = onlyFields || disks.aliases.length === 0 ? [] : ["alias"];
    this.naming = naming ?? randomly.one([...named, ...aliased, "fields", "label"]);
    this.#source = device === undefined ? sourceOf(this.naming, disks, randomly) : { path: device };
    const raw = this.naming === "device" || this.naming === "link";
    const kind = device === undefined ? randomly.below(8) : undefined;
    this.#how = kind === 0 && raw ? { volumeMode: "Block" } : kind === 1 ? {} : { fsType: "ext4" };
  }

  /** The label of the file system that it asks for. */
  get label(): string | undefined {
    return this.naming === "label" ? somebodysLabel : undefined;
  }

  /** People say something else of it. */
  change(): void {
    this.#generation++;
  }

  get intent(): NodeVolumeIntent {
    return intent({
      ...{ name: this.name, uid: `uid-${this.name}`, generation: this.#generation, deleting: this.deleting },
      source: { local: this.#source },
      ...this.#how,
      ...(this.destroys !== undefined && this.#how.fsType && { destroyAllDataOnDevices: [this.destroys] }),
      mounts: [{ path: this.#target }],
    });
  }
}

function sourceOf(naming: Naming, { disks, links, aliases, least, most }: DisksOfWorld, randomly: Randomly): object {
  if (naming === "device") return { path: randomly.one(disks).device };
  if (naming === "alias") return { path: randomly.one(aliases) };
  if (naming === "link") return { path: randomly.one(links) };
  const asked = { transport: "loop", minSize: least, maxSize: most };
  return { disk: { ...asked, ...(naming === "label" ? { label: somebodysLabel } : { empty: true }) } };
}
