import type { HostPorts } from "../../../src/host/ports/host-ports.ts";

/** What changes nothing: an end right after it is the same as one right after the effect before it. */
const looks = new Set([
  ...["inspect", "inspectTarget", "sizeOf", "probe", "attributes", "claim", "openers", "disks", "identify", "read"],
  ...["get", "addresses", "running", "ended", "lastWords", "mapped", "logicalVolume"],
]);
/** What the kernel does by itself when a process ends. */
const byItself = new Set(["close"]);

/**
 * An agent that ends right after its n-th effect on the node: from then on nothing that it tries happens, and none of
 * its calls tells anything. What has no name among `looks` counts as an effect, so that those of new ports are tried by
 * themselves.
 */
export class CutOff {
  /** Names of the effects that there were. */
  readonly effects: string[] = [];
  readonly #last: number;

  /** @param last number of the effect, from 1; Infinity: it never ends */
  constructor(last: number) {
    this.#last = last;
  }

  get ended(): boolean {
    return this.effects.length >= this.#last;
  }

  /** The same ports, as long as it lives. */
  of(host: HostPorts): HostPorts {
    return {
      ...host,
      directories: this.#port("directories", host.directories),
      journal: this.#port("journal", host.journal),
      effects: (operation) => {
        const ports = Object.entries(host.effects(operation)).map(([name, port]) => [name, this.#port(name, port)]);
        return Object.fromEntries(ports) as ReturnType<HostPorts["effects"]>;
      },
    };
  }

  #port<T extends object>(name: string, port: T): T {
    return new Proxy(port, {
      get: (target, key) => {
        const method: unknown = Reflect.get(target, key);
        if (typeof method !== "function" || byItself.has(String(key))) return bound(method, target);
        return (...args: unknown[]) => {
          if (this.ended) throw gone();
          const does = () => method.apply(target, args) as unknown;
          return looks.has(String(key)) ? does() : this.#effect(`${name}.${String(key)}`, does);
        };
      },
    });
  }

  async #effect(name: string, act: () => unknown): Promise<unknown> {
    const value = await act();
    if (!this.ended) this.effects.push(name);
    if (this.ended) throw gone();
    return value;
  }
}

function bound(value: unknown, target: object): unknown {
  return typeof value === "function" ? value.bind(target) : value;
}

function gone(): Error {
  return new Error("the agent has ended");
}
