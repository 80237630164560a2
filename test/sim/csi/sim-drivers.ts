import { DriverClient } from "../../../src/csi/client/driver-client.ts";
import { nodeClient } from "../../../src/csi/client/node-client.ts";
import type { CSIDrivers, RegisteredDriver } from "../../../src/csi/ports.ts";
import type { Cancel } from "../../../src/ports.ts";
import type { Incarnation } from "../incarnation.ts";
import { SimConnection } from "./sim-connection.ts";
import type { SimDriver } from "./sim-driver.ts";

/** How long a registration takes to be noticed, answered and checked. */
const registration = { low: 5, high: 60 } as const;

/**
 * The CSI drivers that one agent process knows of. The clients are the real ones, on simulated connections; the
 * registration directory is not simulated: drivers come and go a moment after their sockets do.
 */
export class SimDrivers implements CSIDrivers {
  readonly #known = new Map<string, { readonly run: number; readonly driver: RegisteredDriver }>();
  readonly #listeners = new Set<(name: string) => void>();
  readonly #incarnation: Incarnation;

  constructor(drivers: readonly SimDriver[], incarnation: Incarnation) {
    this.#incarnation = incarnation;
    for (const driver of drivers) {
      const look = () => void incarnation.later(registration, () => this.#look(driver));
      incarnation.atEnd(driver.onChange(look));
      look();
    }
  }

  driver(name: string): RegisteredDriver | undefined {
    return this.#known.get(name)?.driver;
  }

  names(): readonly string[] {
    return [...this.#known.keys()];
  }

  subscribe(onChange: (name: string) => void): Cancel {
    this.#listeners.add(onChange);
    return () => this.#listeners.delete(onChange);
  }

  #look(driver: SimDriver): void {
    const { name } = driver.kind;
    const known = this.#known.get(name);
    if (!driver.registered) {
      if (!this.#known.delete(name)) return;
    } else {
      if (known?.run === driver.run) return;
      const connection = new SimConnection(driver, this.#incarnation);
      const node = nodeClient(new DriverClient(name, connection, () => this.#tell(name)), connection);
      this.#known.set(name, { run: driver.run, driver: { name, endpoint: `/sim/${name}.sock`, node } });
    }
    this.#tell(name);
  }

  #tell(name: string): void {
    for (const listener of [...this.#listeners]) listener(name);
  }
}
