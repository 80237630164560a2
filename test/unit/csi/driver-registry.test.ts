import { linkSync, mkdirSync, mkdtempSync, renameSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { DriverRegistry } from "../../../src/csi/driver-registry.ts";
import type { PluginInfo } from "../../../src/csi/gen/pluginregistration.gen.ts";
import { grpcDialer } from "../../../src/csi/grpc-connection.ts";
import { linuxSockets } from "../../../src/host/linux/linux-sockets.ts";
import { systemClock, systemRandom, systemTimers } from "../../../src/system.ts";
import { errorOf } from "./clients.ts";
import { FakeDriver } from "./fake-driver.ts";
import { FakeRegistrar } from "./fake-registrar.ts";
import { RememberingLog } from "./remembering-log.ts";

const name = "fake.csi.example.com";

describe("the registry of CSI drivers", () => {
  let directory: string;
  let plugins: string;
  let registry: DriverRegistry;
  let log: RememberingLog;
  let ends: (() => void)[];

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "nodevolume-csi-"));
    plugins = join(directory, "plugins_registry");
    mkdirSync(plugins);
    ends = [];
    log = new RememberingLog();
  });
  afterEach(() => {
    registry?.stop();
    for (const end of ends) end();
    rmSync(directory, { recursive: true, force: true });
  });

  function start(refusals: "told" | "logged" = "told", hostRoot = "/"): void {
    const system = { clock: systemClock, timers: systemTimers, random: systemRandom, log };
    const sockets = linuxSockets(systemTimers);
    const dialer = grpcDialer(systemClock);
    registry = new DriverRegistry({ system, sockets, dialer, directory: plugins, hostRoot, refusals }).start();
  }

  async function driver(socket = "csi.sock", called = name): Promise<FakeDriver> {
    const started = await new FakeDriver(called, join(directory, socket)).start();
    ends.push(() => started.end());
    return started;
  }

  async function registrar(path: string, info: Partial<PluginInfo> = {}): Promise<FakeRegistrar> {
    const all = { name, endpoint: join(directory, "csi.sock"), ...info };
    const started = await new FakeRegistrar(join(plugins, path), all).start();
    ends.push(() => started.stop());
    return started;
  }

  /** Resolves when `holds` does, asked now and after each change of a driver. */
  function until(holds: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const cancel = registry.drivers.subscribe(() => check());
      const check = () => {
        if (!holds()) return;
        cancel();
        resolve();
      };
      check();
    });
  }
  const registered = (called = name) => until(() => registry.drivers.driver(called) !== undefined);
  const gone = (called = name) => until(() => registry.drivers.driver(called) === undefined);

  it("has a driver that was there before, and tells its registrar", async () => {
    await driver();
    const { socket, ...heard } = await registrar("fake-reg.sock");
    start();
    await registered();
    expect(registry.drivers.names()).to.deep.equal([name]);
    const found = registry.drivers.driver(name);
    expect(found).to.include({ name, endpoint: join(directory, "csi.sock") });
    expect(await found?.node.info()).to.include({ nodeID: "node-1" });
    expect(heard.heard).to.deep.equal([{ pluginRegistered: true, error: "" }]);
    expect(log.of("CSI driver registered")).to.deep.include({ driver: name, socket });
  });

  it("has a driver that comes later, also in a subdirectory that comes later, and in the whole directory", async () => {
    rmSync(plugins, { recursive: true });
    start();
    await driver();
    mkdirSync(join(plugins, "deep", "er"), { recursive: true });
    await registrar("deep/er/fake-reg.sock");
    await registered();
  });

  it("takes the registration socket itself for the endpoint if none is named", async () => {
    // One server cannot be both in this test: what is asked for is that the path is the socket's.
    const { heard } = await registrar("fake-reg.sock", { endpoint: "" });
    start("logged");
    await log.told("CSI driver not registered");
    expect(String(log.of("CSI driver not registered")?.["why"])).to.include("GetPluginInfo: UNIMPLEMENTED");
    expect(heard).to.have.length(0);
  });

  it("finds an endpoint beneath the node's root directory, and in another writing", async () => {
    await driver();
    await registrar("fake-reg.sock", { endpoint: "unix:///csi.sock" });
    start("told", directory);
    await registered();
    expect(registry.drivers.driver(name)?.endpoint).to.equal("/csi.sock");
  });

  it("leaves out names with a dot, files that are no sockets, and plugins of another kind", async () => {
    await driver();
    writeFileSync(join(plugins, "file"), "");
    mkdirSync(join(plugins, ".hidden"));
    const hidden = await registrar(".fake-reg.sock");
    const inHidden = await registrar(".hidden/fake-reg.sock");
    const other = await registrar("dra.sock", { type: "DRAPlugin" });
    start();
    await log.told("not a CSI driver");
    await registrar("fake-reg.sock");
    await registered();
    expect([hidden.asked, inHidden.asked, other.asked, other.heard.length]).to.deep.equal([0, 0, 1, 0]);
  });

  it("lets a driver go with its socket", async () => {
    await driver();
    const { stop } = await registrarThatStops("fake-reg.sock");
    start();
    await registered();
    const node = registry.drivers.driver(name)?.node;
    stop();
    await gone();
    expect(registry.drivers.names()).to.deep.equal([]);
    expect((await errorOf(node?.info() ?? Promise.resolve())).reason).to.equal("DriverUnavailable");
    expect(log.of("CSI driver gone")).to.include({ driver: name, why: "its registration socket is gone" });
  });

  async function registrarThatStops(path: string, info: Partial<PluginInfo> = {}) {
    const started = await registrar(path, info);
    return { started, stop: () => started.stop() };
  }

  it("replaces a driver whose socket is replaced on its path, and never has none meanwhile", async () => {
    await driver();
    await driver("csi2.sock");
    await registrar("fake-reg.sock");
    start();
    await registered();
    const first = registry.drivers.driver(name);
    const seen: boolean[] = [];
    registry.drivers.subscribe(() => seen.push(registry.drivers.driver(name) !== undefined));
    await registrar(".new-reg.sock", { endpoint: join(directory, "csi2.sock") });
    renameSync(join(plugins, ".new-reg.sock"), join(plugins, "fake-reg.sock"));
    await until(() => registry.drivers.driver(name) !== first);
    expect(registry.drivers.driver(name)?.endpoint).to.equal(join(directory, "csi2.sock"));
    expect(seen).to.deep.equal([true]);
    expect(log.of("CSI driver replaced")).to.include({ driver: name });
  });

  it("replaces a driver that comes back on another path", async () => {
    await driver();
    const { stop } = await registrarThatStops("old-reg.sock");
    start();
    await registered();
    stop();
    await gone();
    await registrar("new-reg.sock");
    await registered();
  });

  it("refuses a name to a second socket while the first answers, and gives it when that is gone", async () => {
    await driver();
    const { started, stop } = await registrarThatStops("a-reg.sock");
    start();
    await registered();
    const first = registry.drivers.driver(name);
    const second = await registrar("b-reg.sock");
    const { error } = await second.status(({ pluginRegistered }) => !pluginRegistered);
    expect(error).to.equal(`${join(plugins, "a-reg.sock")} has registered this name, and still answers`);
    expect(registry.drivers.driver(name)).to.equal(first);
    expect(started.heard).to.deep.equal([{ pluginRegistered: true, error: "" }]);
    stop();
    await second.status(({ pluginRegistered }) => pluginRegistered);
    await until(() => registry.drivers.driver(name) !== first && registry.drivers.driver(name) !== undefined);
  });

  it("gives a name to a second socket when the first is a file that nobody listens on", async () => {
    await driver();
    const { stop } = await registrarThatStops("a-reg.sock");
    start();
    await registered();
    const first = registry.drivers.driver(name);
    linkSync(join(plugins, "a-reg.sock"), join(directory, "kept"));
    stop();
    renameSync(join(directory, "kept"), join(plugins, "a-reg.sock"));
    await registrar("b-reg.sock");
    await until(() => registry.drivers.driver(name) !== first && registry.drivers.driver(name) !== undefined);
  });

  describe("refuses, logs and tells the reason", () => {
    const endless = `/${"x".repeat(107)}`;
    const cases: readonly (readonly [string, Partial<PluginInfo>, string | RegExp])[] = [
      ["a name with a slash", { name: "a/b" }, "its name is no domain name of at most 63 characters"],
      ["no name", { name: "" }, "its name is no domain name of at most 63 characters"],
      ["a long name", { name: "a".repeat(64) }, "its name is no domain name of at most 63 characters"],
      ["version 2", { supportedVersions: ["2.0.0"] }, "it speaks version 2.0.0 of CSI, and 1.x is needed"],
      ["version 0", { supportedVersions: ["0.3.0"] }, "it speaks version 0.3.0 of CSI, and 1.x is needed"],
      ["no version", { supportedVersions: [] }, "it speaks version (none) of CSI, and 1.x is needed"],
      ["a network address", { endpoint: "dns:///evil:443" }, /endpoint dns:\/\/\/evil:443 is not the absolute path/],
      ["an abstract socket", { endpoint: "unix-abstract:x" }, /is not the absolute path of a unix socket/],
      ["a relative path", { endpoint: "csi.sock" }, /is not the absolute path of a unix socket/],
      ["a way up", { endpoint: "/var/../csi.sock" }, /has \.\. in it/],
      ["too long a path", { endpoint: endless }, `the path ${endless} is longer than 107 bytes`],
      ["a file", { endpoint: "/etc/passwd" }, "its endpoint /etc/passwd is not a unix socket"],
      [
        "a lie about the name",
        { name: "liar.example.com" },
        `driver liar.example.com: GetPluginInfo: another driver answers, which calls itself: ${name}`,
      ],
    ];
    for (const [what, info, why] of cases) {
      it(what, async () => {
        await driver();
        const refused = await registrar("fake-reg.sock", info);
        start();
        const { pluginRegistered, error } = await refused.status();
        expect(pluginRegistered).to.equal(false);
        if (typeof why === "string") expect(error).to.equal(why);
        else expect(error).to.match(why);
        await log.told("CSI driver refused");
        expect(log.of("CSI driver refused")).to.deep.include({ socket: refused.socket, why: error });
        expect(registry.drivers.names()).to.deep.equal([]);
        expect(registry.obstacles()).to.deep.equal([{ socket: refused.socket, why: error }]);
      });
    }

    it("but tells nobody where kubelet has the last word", async () => {
      await driver();
      const refused = await registrar("fake-reg.sock", { name: "liar.example.com" });
      start("logged");
      await log.told("CSI driver refused");
      refused.info = { ...refused.info, name };
      await registered();
      expect(registry.obstacles()).to.deep.equal([]);
      expect(refused.heard).to.deep.equal([{ pluginRegistered: true, error: "" }]);
    });
  });

  it("tries again until the driver's own socket is there", async () => {
    const waiting = await registrar("fake-reg.sock");
    start();
    await log.told("CSI driver not registered");
    expect(waiting.heard).to.have.length(0);
    await driver();
    await registered();
  });

  it("tries again until somebody listens on the registration socket, and is not held up by one that says nothing", async () => {
    const sockets = new Set<Socket>();
    const mute: Server = createServer((socket) => sockets.add(socket.on("error", () => {})));
    await new Promise<void>((resolve) => mute.listen(join(plugins, "mute.sock"), resolve));
    ends.push(() => {
      for (const socket of sockets) socket.destroy();
      mute.close();
    });
    const stale = createServer();
    await new Promise<void>((resolve) => stale.listen(join(plugins, "fake-reg.sock"), resolve));
    linkSync(join(plugins, "fake-reg.sock"), join(directory, "kept"));
    await new Promise<void>((resolve) => stale.close(() => resolve()));
    renameSync(join(directory, "kept"), join(plugins, "fake-reg.sock"));
    start();
    await log.told("CSI driver not registered");
    await driver();
    unlinkSync(join(plugins, "fake-reg.sock"));
    await registrar("fake-reg.sock");
    await registered();
  });

  it("tells when a driver that did not answer answers again", async () => {
    const fake = await driver();
    await registrar("fake-reg.sock");
    start();
    await registered();
    const { node } = registry.drivers.driver(name) ?? {};
    fake.stop();
    expect((await errorOf(node?.info() ?? Promise.resolve())).reason).to.equal("DriverUnavailable");
    const told = new Promise<string>((resolve) => registry.drivers.subscribe(resolve));
    await fake.start();
    expect(await told).to.equal(name);
    expect(await node?.info()).to.include({ nodeID: "node-1" });
  });

  it("tells nobody of anything after it was stopped", async () => {
    await driver();
    const { stop } = await registrarThatStops("fake-reg.sock");
    start();
    await registered();
    const told: string[] = [];
    registry.drivers.subscribe((which) => told.push(which));
    registry.stop();
    stop();
    expect([registry.drivers.names(), told]).to.deep.equal([[], []]);
  });
});
