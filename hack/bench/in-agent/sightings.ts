import type { NodeVolumeIntent } from "../../../src/api/types.gen.ts";
import type { FakeApi } from "../../lib/agent-on-kernel/fake-api.ts";

type Status = NodeVolumeIntent["status"];

/** Waits for what statuses say, by the moment at which the write of a status begins. */
export class Sightings {
  readonly #waiting = new Map<
    string,
    { readonly meets: (status: Status) => boolean; readonly seen: (at: number) => void }
  >();

  constructor(api: FakeApi) {
    api.onStatus = (name, status) => {
      const waiter = this.#waiting.get(name);
      if (waiter === undefined || !waiter.meets(status)) return;
      this.#waiting.delete(name);
      waiter.seen(performance.now());
    };
  }

  /**
   * Resolves with the moment, in milliseconds since the start of the process, at which the last of `names` meets it.
   */
  async all(names: readonly string[], meets: (status: Status) => boolean): Promise<number> {
    const moments = names.map((name) => new Promise<number>((seen) => this.#waiting.set(name, { meets, seen })));
    return Math.max(...(await Promise.all(moments)));
  }

  mounted(names: readonly string[]): Promise<number> {
    return this.all(names, ({ state }) => state === "Mounted");
  }

  released(names: readonly string[]): Promise<number> {
    return this.all(names, ({ state }) => state === "Released");
  }
}
