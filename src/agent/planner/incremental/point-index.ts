import { ancestorsOf } from "../../../api/values/path.ts";
import { isBeneath } from "../../../host/mount-table/mount-table.ts";

/** Which volumes look at which paths of a mount table. */
export class PointIndex {
  readonly #byPoint = new Map<string, Set<string>>();
  /** How many points lie beneath a directory. */
  readonly #above = new Map<string, number>();

  add(point: string, volume: string): void {
    const volumes = this.#byPoint.get(point);
    if (volumes === undefined) this.#byPoint.set(point, new Set([volume]));
    else volumes.add(volume);
    for (const above of ancestorsOf(point)) this.#above.set(above, (this.#above.get(above) ?? 0) + 1);
  }

  remove(point: string, volume: string): void {
    const volumes = this.#byPoint.get(point);
    volumes?.delete(volume);
    if (volumes?.size === 0) this.#byPoint.delete(point);
    for (const above of ancestorsOf(point)) {
      const left = (this.#above.get(above) ?? 0) - 1;
      if (left > 0) this.#above.set(above, left);
      else this.#above.delete(above);
    }
  }

  /** Those that look at this path, or at one beneath it. */
  *at(point: string): Generator<string> {
    yield* this.#byPoint.get(point) ?? [];
    if (point !== "/" && !this.#above.has(point)) return;
    for (const [path, volumes] of this.#byPoint) if (isBeneath(path, point)) yield* volumes;
  }
}
