import type { CSIDrivers, VolumeStats } from "../../csi/ports.ts";
import { messageOf } from "../../errors.ts";
import type { Cancel, System } from "../../ports.ts";
import type { VolumeName } from "../model/identities.ts";
import type { Plan, PlanListener, VolumeHealth } from "../model/volume-plan.ts";
import { isSamePolled, type PolledVolume, polledVolume } from "./polled-volume.ts";

/** Milliseconds between two questions, give or take a quarter: kubelet's volumeStatsAggPeriod (behaviour 118). */
const intervalMs = 60_000;
/** Within how many milliseconds a volume that has come is asked for the first time. */
const firstMs = 10_000;
/** Questions that a driver has at a time: one that hangs has them for two minutes each, and delays no other driver. */
const mostOfDriver = 2;
/** Milliseconds until a volume whose driver has that many already is looked at again. */
const againMs = 5_000;

/** A CSI volume whose statistics are polled, and its newest answer (NodeGetVolumeStats). */
export interface Polled {
  readonly volume: PolledVolume;
  /** The newest answer; undefined if there was none, or the last question failed: numbers that grow old say nothing. */
  readonly stats?: VolumeStats;
}

interface Entry {
  volume: PolledVolume;
  stats?: VolumeStats | undefined;
  /** Whether it was told that nothing is known. */
  failed: boolean;
  cancel: Cancel;
}

/** Dependencies of polling NodeGetVolumeStats. */
export interface VolumeStatsDeps {
  readonly system: Pick<System, "clock" | "timers" | "random" | "log">;
  readonly drivers: Pick<CSIDrivers, "driver">;
  /** A volume's health is another one. */
  onHealth(): void;
}

/**
 * Asks drivers with GET_VOLUME_STATS, about once a minute and volume, how full their volumes are, and with
 * VOLUME_CONDITION in which state (NodeGetVolumeStats). Apart from everything else: a driver that does not answer holds
 * up no operation and no other driver.
 */
export class VolumeStatsPoller implements PlanListener {
  readonly #deps: VolumeStatsDeps;
  readonly #entries = new Map<VolumeName, Entry>();
  readonly #asking = new Map<string, number>();
  readonly #health = new Map<VolumeName, VolumeHealth>();
  #stopped = false;

  constructor(deps: VolumeStatsDeps) {
    this.#deps = deps;
  }

  /** By intent. Never changed in place but for the map itself. */
  get health(): ReadonlyMap<VolumeName, VolumeHealth> {
    return this.#health;
  }

  /** By intent, of volumes that are there. */
  polled(): ReadonlyMap<VolumeName, Polled> {
    return new Map([...this.#entries].map(([name, { volume, stats }]) => [name, { volume, ...(stats && { stats }) }]));
  }

  /** Begins with volumes that have come, ends with those that go. */
  planned({ changed, volumes }: Pick<Plan, "changed" | "volumes">): void {
    if (this.#stopped) return;
    for (const name of changed.keys()) {
      const plan = volumes.get(name);
      const volume = plan && polledVolume(plan);
      const known = this.#entries.get(name);
      if (isSamePolled(known?.volume, volume)) continue;
      known?.cancel();
      this.#entries.delete(name);
      this.#setHealth(name, undefined);
      if (volume === undefined) continue;
      const entry: Entry = { volume, failed: false, cancel: () => {} };
      this.#entries.set(name, entry);
      this.#after(name, entry, firstMs * this.#deps.system.random.next());
    }
  }

  stop(): void {
    this.#stopped = true;
    for (const { cancel } of this.#entries.values()) cancel();
  }

  #after(name: VolumeName, entry: Entry, ms: number): void {
    entry.cancel = this.#deps.system.timers.after(ms, () => void this.#poll(name, entry));
  }

  async #poll(name: VolumeName, entry: Entry): Promise<void> {
    const { driver } = entry.volume;
    const asking = this.#asking.get(driver) ?? 0;
    if (asking >= mostOfDriver) {
      this.#after(name, entry, againMs);
      return;
    }
    this.#asking.set(driver, asking + 1);
    let stats: VolumeStats | undefined;
    let problem: string | undefined;
    try {
      stats = await this.#ask(entry.volume);
    } catch (error) {
      problem = messageOf(error);
    }
    this.#asking.set(driver, (this.#asking.get(driver) ?? 1) - 1);
    if (this.#stopped || this.#entries.get(name) !== entry) return; // it went meanwhile, or is another one
    if (problem !== undefined && !entry.failed) {
      this.#deps.system.log.warn("how full a volume is is not known", { intent: name, driver, error: problem });
    }
    entry.failed = problem !== undefined;
    entry.stats = stats;
    if (problem === undefined) this.#setHealth(name, stats?.condition);
    this.#after(name, entry, intervalMs * (0.75 + this.#deps.system.random.next() / 2));
  }

  /** @returns undefined if the driver cannot be asked */
  async #ask({ driver, volumeID, volumePath, stagingPath }: PolledVolume): Promise<VolumeStats | undefined> {
    const node = this.#deps.drivers.driver(driver)?.node;
    if (node === undefined) return undefined;
    const { stats, stageUnstage, volumeCondition } = await node.capabilities();
    if (!stats) return undefined;
    const answer = await node.stats({ volumeID, volumePath, ...(stageUnstage && { stagingPath }) });
    return volumeCondition ? answer : { ...answer, condition: undefined };
  }

  #setHealth(name: VolumeName, health: VolumeHealth | undefined): void {
    const before = this.#health.get(name);
    if (before?.abnormal === health?.abnormal && before?.message === health?.message) return;
    if (health === undefined) this.#health.delete(name);
    else this.#health.set(name, health);
    this.#deps.onHealth();
  }
}
