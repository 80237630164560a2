import { linkSync, mkdirSync, renameSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { expect } from "chai";
import { errorOf } from "../clients.ts";
import { name, RegistryWorld } from "../registry-world.ts";

describe("the registry of CSI drivers", () => {
  let world: RegistryWorld;
  beforeEach(() => {
    world = new RegistryWorld();
  });
  afterEach(() => world.end());

  /** The driver of the usual name, as it is registered now. */
  const current = () => world.registry.drivers.driver(name);

  it("has a driver that was there before, and tells its registrar", async () => {
    await world.driver();
    const { socket, ...heard } = await world.registrar("fake-reg.sock");
    world.start();
    await world.registered();
    expect(world.registry.drivers.names()).to.deep.equal([name]);
    const found = current();
    expect(found).to.include({ name, endpoint: join(world.directory, "csi.sock") });
    expect(await found?.node.info()).to.include({ nodeID: "node-1" });
    expect(heard.heard).to.deep.equal([{ pluginRegistered: true, error: "" }]);
    expect(world.log.of("CSI driver registered")).to.deep.include({ driver: name, socket });
  });

  it("has a driver that comes later, also in a subdirectory that comes later, and in the whole directory", async () => {
    rmSync(world.plugins, { recursive: true });
    world.start();
    await world.driver();
    mkdirSync(join(world.plugins, "deep", "er"), { recursive: true });
    await world.registrar("deep/er/fake-reg.sock");
    await world.registered();
  });

  it("takes the registration socket itself for the endpoint if none is named", async () => {
    // One server cannot be both in this test: what is asked for is that the path is the socket's.
    const { heard } = await world.registrar("fake-reg.sock", { endpoint: "" });
    world.start("logged");
    await world.log.told("CSI driver not registered");
    expect(String(world.log.of("CSI driver not registered")?.["why"])).to.include("GetPluginInfo: UNIMPLEMENTED");
    expect(heard).to.have.length(0);
  });

  it("finds an endpoint beneath the node's root directory, and in another writing", async () => {
    await world.driver();
    await world.registrar("fake-reg.sock", { endpoint: "unix:///csi.sock" });
    world.start("told", world.directory);
    await world.registered();
    expect(current()?.endpoint).to.equal("/csi.sock");
  });

  it("leaves out the agent's own driver for pods, and whoever takes its name", async () => {
    await world.driver();
    const own = await world.registrar("csi.nodevolume.dev-reg.sock");
    const other = await world.registrar("other-reg.sock", { name: "csi.nodevolume.dev" });
    await world.registrar("fake-reg.sock");
    world.start();
    await world.registered();
    const { error } = await other.status();
    expect(error).to.equal("its name is that of this agent's own driver for pods");
    expect([own.asked, world.registry.drivers.names()]).to.deep.equal([0, [name]]);
  });

  it("leaves out names with a dot, files that are no sockets, and plugins of another kind", async () => {
    await world.driver();
    writeFileSync(join(world.plugins, "file"), "");
    mkdirSync(join(world.plugins, ".hidden"));
    const hidden = await world.registrar(".fake-reg.sock");
    const inHidden = await world.registrar(".hidden/fake-reg.sock");
    const other = await world.registrar("dra.sock", { type: "DRAPlugin" });
    world.start();
    await world.log.told("not a CSI driver");
    await world.registrar("fake-reg.sock");
    await world.registered();
    expect([hidden.asked, inHidden.asked, other.asked, other.heard.length]).to.deep.equal([0, 0, 1, 0]);
  });

  it("lets a driver go with its socket", async () => {
    await world.driver();
    const first = await world.registrar("fake-reg.sock");
    world.start();
    await world.registered();
    const node = current()?.node;
    first.stop();
    await world.gone();
    expect(world.registry.drivers.names()).to.deep.equal([]);
    expect((await errorOf(node?.info() ?? Promise.resolve())).reason).to.equal("DriverUnavailable");
    expect(world.log.of("CSI driver gone")).to.include({ driver: name, why: "its registration socket is gone" });
  });

  it("replaces a driver whose socket is replaced on its path, and never has none meanwhile", async () => {
    await world.driver();
    await world.driver("csi2.sock");
    await world.registrar("fake-reg.sock");
    world.start();
    await world.registered();
    const before = current();
    const seen: boolean[] = [];
    world.registry.drivers.subscribe(() => seen.push(current() !== undefined));
    await world.registrar(".new-reg.sock", { endpoint: join(world.directory, "csi2.sock") });
    renameSync(join(world.plugins, ".new-reg.sock"), join(world.plugins, "fake-reg.sock"));
    await world.until(() => current() !== before);
    expect(current()?.endpoint).to.equal(join(world.directory, "csi2.sock"));
    expect(seen).to.deep.equal([true]);
    expect(world.log.of("CSI driver replaced")).to.include({ driver: name });
  });

  it("replaces a driver that comes back on another path", async () => {
    await world.driver();
    const first = await world.registrar("old-reg.sock");
    world.start();
    await world.registered();
    first.stop();
    await world.gone();
    await world.registrar("new-reg.sock");
    await world.registered();
  });

  it("refuses a name to a second socket while the first answers, and gives it when that is gone", async () => {
    await world.driver();
    const first = await world.registrar("a-reg.sock");
    world.start();
    await world.registered();
    const before = current();
    const second = await world.registrar("b-reg.sock");
    const { error } = await second.status(({ pluginRegistered }) => !pluginRegistered);
    expect(error).to.equal(`${join(world.plugins, "a-reg.sock")} has registered this name, and still answers`);
    expect(current()).to.equal(before);
    expect(first.heard).to.deep.equal([{ pluginRegistered: true, error: "" }]);
    first.stop();
    await second.status(({ pluginRegistered }) => pluginRegistered);
    await world.until(() => current() !== before && current() !== undefined);
  });

  it("gives a name to a second socket when the first is a file that nobody listens on", async () => {
    await world.driver();
    const first = await world.registrar("a-reg.sock");
    world.start();
    await world.registered();
    const before = current();
    linkSync(join(world.plugins, "a-reg.sock"), join(world.directory, "kept"));
    first.stop();
    renameSync(join(world.directory, "kept"), join(world.plugins, "a-reg.sock"));
    await world.registrar("b-reg.sock");
    await world.until(() => current() !== before && current() !== undefined);
  });

  it("tries again until the driver's own socket is there", async () => {
    const waiting = await world.registrar("fake-reg.sock");
    world.start();
    await world.log.told("CSI driver not registered");
    expect(waiting.heard).to.have.length(0);
    await world.driver();
    await world.registered();
  });

  it("tries again until somebody listens on the registration socket, and is not held up by one that says nothing", async () => {
    const sockets = new Set<Socket>();
    const mute: Server = createServer((socket) => sockets.add(socket.on("error", () => {})));
    await new Promise<void>((resolve) => mute.listen(join(world.plugins, "mute.sock"), resolve));
    world.ends.push(() => {
      for (const socket of sockets) socket.destroy();
      mute.close();
    });
    const stale = createServer();
    await new Promise<void>((resolve) => stale.listen(join(world.plugins, "fake-reg.sock"), resolve));
    linkSync(join(world.plugins, "fake-reg.sock"), join(world.directory, "kept"));
    await new Promise<void>((resolve) => stale.close(() => resolve()));
    renameSync(join(world.directory, "kept"), join(world.plugins, "fake-reg.sock"));
    world.start();
    await world.log.told("CSI driver not registered");
    await world.driver();
    unlinkSync(join(world.plugins, "fake-reg.sock"));
    await world.registrar("fake-reg.sock");
    await world.registered();
  });

  it("takes no notice of an answer that comes after its socket has gone, and keeps no name for it", async () => {
    await world.driver();
    const slow = await world.registrar("fake-reg.sock");
    const asked = slow.holdInfo();
    world.start();
    const { answer } = await asked;
    rmSync(slow.socket);
    await world.registrar("other-reg.sock", { type: "DRAPlugin" });
    await world.log.told("not a CSI driver"); // the look that has seen this one has missed the first
    answer();
    const replacement = await world.registrar("fake-reg.sock");
    await world.registered();
    expect([slow.heard, replacement.heard]).to.deep.equal([[], [{ pluginRegistered: true, error: "" }]]);
  });

  it("has no driver whose registrar cannot be told, until it can", async () => {
    await world.driver();
    const unavailable = await world.registrar("fake-reg.sock");
    unavailable.refusesToHear = true;
    world.start();
    await world.log.told("CSI driver not registered");
    expect(world.registry.obstacles()[0]?.why).to.equal("NotifyRegistrationStatus: INTERNAL: not listening");
    expect(world.registry.drivers.names()).to.deep.equal([]);
    unavailable.refusesToHear = false;
    await world.registered();
  });

  it("tells when a driver that did not answer answers again", async () => {
    const fake = await world.driver();
    await world.registrar("fake-reg.sock");
    world.start();
    await world.registered();
    const { node } = current() ?? {};
    fake.stop();
    expect((await errorOf(node?.info() ?? Promise.resolve())).reason).to.equal("DriverUnavailable");
    const told = new Promise<string>((resolve) => world.registry.drivers.subscribe(resolve));
    await fake.start();
    expect(await told).to.equal(name);
    expect(await node?.info()).to.include({ nodeID: "node-1" });
  });

  it("tells nobody of anything after it was stopped", async () => {
    await world.driver();
    const first = await world.registrar("fake-reg.sock");
    world.start();
    await world.registered();
    const told: string[] = [];
    world.registry.drivers.subscribe((which) => told.push(which));
    world.registry.stop();
    first.stop();
    expect([world.registry.drivers.names(), told]).to.deep.equal([[], []]);
  });
});
