import { type Resource, resource } from "../../../src/api/names.ts";
import type { Change } from "../api/collection.ts";
import type { SimNode } from "../sim-node.ts";
import type { WorldOptions } from "../world-options.ts";
import type { WorldParts } from "../world-parts.ts";
import { SimAttacher } from "./sim-attacher.ts";
import type { SimDriver } from "./sim-driver.ts";
import { SimKubeControllerManager } from "./sim-kube-controller-manager.ts";
import { type DriverKind, Storage, type StoredVolume } from "./storage.ts";
import { StorageCluster } from "./storage-cluster.ts";

/** How long a driver takes to be there after its machine has started again. */
const startMs = { low: 1_000, high: 30_000 } as const;

type CSIOptions = Pick<WorldOptions, "drivers" | "kubeControllerManager">;

/** All of a world that is about CSI: storage, drivers, and who attaches. In most worlds there is none of it. */
export class CSIWorld {
  readonly kinds: readonly DriverKind[];
  readonly storage = new Storage();
  attachers: readonly SimAttacher[] = [];
  kubeControllerManager: SimKubeControllerManager | undefined;
  readonly #nodes: ReadonlyMap<string, SimNode>;
  readonly #options: CSIOptions;
  #parts: WorldParts | undefined;
  #cluster: StorageCluster | undefined;

  constructor(options: CSIOptions, nodes: ReadonlyMap<string, SimNode>) {
    this.kinds = options.drivers ?? [];
    this.#options = options;
    this.#nodes = nodes;
  }

  begin(parts: WorldParts): void {
    this.#parts = parts;
    const cluster = new StorageCluster(parts.server);
    this.#cluster = cluster;
    if (this.kinds.length > 0) cluster.claimPolicies();
    for (const kind of this.kinds) cluster.csiDriver(kind);
    this.attachers = this.kinds
      .filter(({ attach }) => attach)
      .map((kind) => new SimAttacher(kind, this.storage, parts));
    if (this.#options.kubeControllerManager) {
      this.kubeControllerManager = new SimKubeControllerManager(parts, this.#nodes);
    }
  }

  /** What people write of storage. */
  get cluster(): StorageCluster {
    if (this.#cluster === undefined) throw new Error("the world has not begun");
    return this.#cluster;
  }

  /** A volume of the world's first driver. */
  volume(handle: string, options: { readonly driver?: DriverKind; readonly singleNode?: boolean } = {}): StoredVolume {
    const { driver = this.kinds[0], ...rest } = options;
    if (driver === undefined) throw new Error("a world without CSI drivers");
    return this.storage.add(handle, driver, rest);
  }

  /** kubelet registers the drivers of a new node. */
  nodeAdded({ machine, drivers }: SimNode): void {
    if (this.kinds.length === 0) return;
    this.#cluster?.csiNode(machine.name, this.kinds);
    for (const driver of drivers.values()) driver.start();
  }

  stored(of: Resource, { object }: Change): void {
    this.kubeControllerManager?.stored(of);
    if (of !== resource.volumeAttachments) return;
    for (const attacher of this.attachers) attacher.changed(object.metadata.name);
  }

  booted(node: string): void {
    const { scheduler, random } = this.#parts ?? {};
    for (const driver of this.#nodes.get(node)?.drivers.values() ?? []) {
      driver.rebooted();
      if (random !== undefined) scheduler?.after(random.between(startMs.low, startMs.high), () => driver.start());
    }
  }

  get drivers(): SimDriver[] {
    return [...this.#nodes.values()].flatMap(({ drivers }) => [...drivers.values()]);
  }

  nodesThatMayHold(handle: string): string[] {
    const name = this.storage.volumes.get(handle)?.driver.name ?? "";
    const holding = [...this.#nodes].filter(([, { drivers }]) => drivers.get(name)?.mayHold(handle) === true);
    return holding.map(([node]) => node);
  }
}
