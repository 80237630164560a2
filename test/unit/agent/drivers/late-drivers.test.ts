import { expect } from "chai";
import { noDrivers } from "../../../../hack/lib/no-drivers.ts";
import { LateDrivers } from "../../../../src/agent/drivers/late-drivers.ts";
import type { RegisteredDriver } from "../../../../src/csi/ports.ts";
import { RememberingLog } from "../../csi/remembering-log.ts";
import { settle, virtualSystem } from "../../kube/virtual-system.ts";

describe("drivers that are looked for late", () => {
  const log = new RememberingLog();
  const system = { ...virtualSystem(), log };
  let sockets: string[];
  let changed: () => void;
  let loads: number;
  let told: string[];
  let stopped: number;
  let failing: Error | undefined;
  const driver = { name: "a.example", endpoint: "/a.sock" } as RegisteredDriver;

  function start(): LateDrivers {
    [sockets, loads, told, stopped] = [[], 0, [], 0];
    const drivers = new LateDrivers({
      system,
      directory: "/plugins_registry",
      sockets: {
        watch(_directory, onChange) {
          changed = onChange;
          const read = async () => sockets.map((path) => ({ path, identity: "1" }));
          return { read, unavailable: () => undefined, close: () => {} };
        },
      },
      async load() {
        loads += 1;
        if (failing !== undefined) throw failing;
        const found = { ...noDrivers, driver: () => driver, names: () => [driver.name] };
        const stop = () => {
          stopped += 1;
        };
        return { drivers: found, stop };
      },
    });
    drivers.subscribe((name) => told.push(name));
    return drivers;
  }

  it("are nobody before a socket is there, and then whoever registers", async () => {
    const drivers = start();
    await settle();
    expect([loads, drivers.names(), drivers.driver("a.example")]).to.deep.equal([0, [], undefined]);
    sockets.push("/plugins_registry/a.sock");
    changed();
    await settle();
    changed();
    await settle();
    expect([loads, drivers.driver("a.example"), told]).to.deep.equal([1, driver, ["a.example"]]);
    drivers.stop();
    expect(stopped).to.equal(1);
  });

  it("are found also when nobody tells of the socket", async () => {
    const drivers = start();
    await settle();
    sockets.push("/plugins_registry/a.sock");
    await system.advance(31_000);
    expect(loads).to.equal(1);
    drivers.stop();
  });

  it("are not loaded for the agent's own driver for pods", async () => {
    const drivers = start();
    sockets.push("/plugins_registry/csi.nodevolume.dev-reg.sock");
    changed();
    await system.advance(31_000);
    expect(loads).to.equal(0);
    sockets.push("/plugins_registry/a.sock");
    await system.advance(31_000);
    expect(loads).to.equal(1);
    drivers.stop();
  });

  it("are loaded again at the next look if that failed, with one warning", async () => {
    const drivers = start();
    failing = new Error("EMFILE");
    sockets.push("/plugins_registry/a.sock");
    await system.advance(100_000);
    expect([loads > 2, log.count("the client of CSI drivers was not started")]).to.deep.equal([true, 1]);
    failing = undefined;
    await system.advance(31_000);
    expect(drivers.driver("a.example")).to.equal(driver);
    drivers.stop();
  });

  it("are not loaded once the agent ends", async () => {
    const drivers = start();
    drivers.stop();
    sockets.push("/plugins_registry/a.sock");
    changed();
    await system.advance(60_000);
    expect(loads).to.equal(0);
  });
});
