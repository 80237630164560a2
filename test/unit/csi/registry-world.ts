import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { grpcDialer } from "../../../src/csi/client/grpc-connection.ts";
import type { PluginInfo } from "../../../src/csi/gen/pluginregistration.gen.ts";
import { DriverRegistry } from "../../../src/csi/registry/driver-registry.ts";
import { linuxSockets } from "../../../src/host/linux/files/linux-sockets.ts";
import { systemClock, systemRandom, systemTimers, systemTurns } from "../../../src/system.ts";
import { FakeDriver } from "./fake-driver.ts";
import { FakeRegistrar } from "./fake-registrar.ts";
import { RememberingLog } from "./remembering-log.ts";

/** The name of every driver that has no other. */
export const name = "fake.csi.example.com";

/** A registry on a real directory, with drivers and registrars that serve on real sockets. */
export class RegistryWorld {
  readonly directory = mkdtempSync(join(tmpdir(), "nodevolume-csi-"));
  readonly plugins = join(this.directory, "plugins_registry");
  readonly log = new RememberingLog();
  readonly ends: (() => void)[] = [];
  #registry: DriverRegistry | undefined;

  constructor() {
    mkdirSync(this.plugins);
  }

  get registry(): DriverRegistry {
    if (this.#registry === undefined) throw new Error("not started");
    return this.#registry;
  }

  start(refusals: "told" | "logged" = "told", hostRoot = "/"): void {
    const { log, plugins: directory } = this;
    const system = { clock: systemClock, timers: systemTimers, yielder: systemTurns, random: systemRandom, log };
    const sockets = linuxSockets(systemTimers);
    const dialer = grpcDialer(systemClock);
    this.#registry = new DriverRegistry({ system, sockets, dialer, directory, hostRoot, refusals }).start();
  }

  end(): void {
    this.#registry?.stop();
    for (const end of this.ends) end();
    rmSync(this.directory, { recursive: true, force: true });
  }

  async driver(socket = "csi.sock"): Promise<FakeDriver> {
    const started = await new FakeDriver(name, join(this.directory, socket)).start();
    this.ends.push(() => started.end());
    return started;
  }

  async registrar(path: string, info: Partial<PluginInfo> = {}): Promise<FakeRegistrar> {
    const all = { name, endpoint: join(this.directory, "csi.sock"), ...info };
    const started = await new FakeRegistrar(join(this.plugins, path), all).start();
    this.ends.push(() => started.stop());
    return started;
  }

  /** Resolves when `holds` does, asked now and after each change of a driver. */
  until(holds: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.registry.drivers.subscribe(() => check());
      const check = () => {
        if (!holds()) return;
        cancel();
        resolve();
      };
      check();
    });
  }

  registered(): Promise<void> {
    return this.until(() => this.registry.drivers.driver(name) !== undefined);
  }

  gone(): Promise<void> {
    return this.until(() => this.registry.drivers.driver(name) === undefined);
  }
}
