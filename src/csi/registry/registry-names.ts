import type { Cancel } from "../../ports.ts";
import type { CSIDrivers, RegisteredDriver } from "../ports.ts";
import type { Registered } from "./register.ts";

/** The drivers by name, and who is told of changes. A driver that is replaced or goes is closed. */
export class DriverNames implements CSIDrivers {
  readonly #drivers = new Map<string, Registered>();
  readonly #listeners = new Set<(name: string) => void>();

  driver(name: string): RegisteredDriver | undefined {
    return this.#drivers.get(name);
  }

  names(): readonly string[] {
    return [...this.#drivers.keys()].sort();
  }

  subscribe(onChange: (name: string) => void): Cancel {
    const listener = (name: string) => onChange(name); // one for each call, also with the same function
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  put(driver: Registered): void {
    this.#drivers.get(driver.name)?.close();
    this.#drivers.set(driver.name, driver);
    this.tell(driver.name);
  }

  remove(driver: Registered): void {
    driver.close();
    if (this.#drivers.get(driver.name) !== driver) return;
    this.#drivers.delete(driver.name);
    this.tell(driver.name);
  }

  tell(name: string): void {
    for (const listener of [...this.#listeners]) listener(name);
  }

  close(): void {
    this.#listeners.clear();
    for (const driver of this.#drivers.values()) driver.close();
    this.#drivers.clear();
  }
}
