import { expect } from "chai";
import type { PluginInfo } from "../../../src/csi/gen/pluginregistration.gen.ts";
import { name, RegistryWorld } from "./registry-world.ts";

describe("a CSI driver that registers itself is refused, with the reason logged and told, for", () => {
  let world: RegistryWorld;
  beforeEach(() => {
    world = new RegistryWorld();
  });
  afterEach(() => world.end());

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
      await world.driver();
      const refused = await world.registrar("fake-reg.sock", info);
      world.start();
      const { pluginRegistered, error } = await refused.status();
      expect(pluginRegistered).to.equal(false);
      if (typeof why === "string") expect(error).to.equal(why);
      else expect(error).to.match(why);
      await world.log.told("CSI driver refused");
      expect(world.log.of("CSI driver refused")).to.deep.include({ socket: refused.socket, why: error });
      expect(world.registry.drivers.names()).to.deep.equal([]);
      expect(world.registry.obstacles()).to.deep.equal([{ socket: refused.socket, why: error }]);
    });
  }

  it("but tells nobody where kubelet has the last word", async () => {
    await world.driver();
    const refused = await world.registrar("fake-reg.sock", { name: "liar.example.com" });
    world.start("logged");
    await world.log.told("CSI driver refused");
    refused.info = { ...refused.info, name };
    await world.registered();
    expect(world.registry.obstacles()).to.deep.equal([]);
    expect(refused.heard).to.deep.equal([{ pluginRegistered: true, error: "" }]);
  });
});
