import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { intent } from "../../hack/lib/agent-on-kernel/intent.ts";
import { asVolumeName } from "../../src/agent/model/identities.ts";
import type { FlockerVolumeSource } from "../../src/api/types.gen.ts";
import { datasetUUID, elsewhereUUID, FlockerContractServer, hereUUID } from "../lib/fakes/flocker-contract-server.ts";
import type { RealNode } from "../lib/kernel/real-node.ts";
import { withNode } from "../lib/kernel/with-node.ts";

const name = asVolumeName("node.volume-1");

describe("flocker volumes against a contract server, which is not Flocker", () => {
  let node: RealNode;
  let server: FlockerContractServer;

  withNode(["openssl"], async (made) => {
    node = made;
    server = node.keep(new FlockerContractServer());
    const flocker = await server.listen();
    const { host } = node;
    node.host = { ...host, effects: (operation) => ({ ...host.effects(operation), flocker }) };
  });

  let generation = 0;
  const volume = (source: FlockerVolumeSource, deleting = false) =>
    intent({
      source: { flocker: source },
      generation: ++generation,
      deleting,
      mounts: [{ path: node.target("a") }],
    });
  const again = () => {
    node.forgetFailures();
    return node.volume(name);
  };

  it("a dataset that is here is bound, by name as by UUID, and given back without a move", async () => {
    server.mount();
    writeFileSync(join(server.path, "here"), "");
    for (const source of [{ datasetName: "data" }, { datasetUUID }]) {
      node.want(volume(source));
      expect((await node.volume(name)).failure?.message).to.equal(undefined);
      expect(readdirSync(node.target("a"))).to.deep.equal(["here"]);
      node.want(volume(source, true));
      expect((await node.volume(name)).phase).to.equal("released");
      expect(existsSync(node.target("a"))).to.equal(false);
    }
    expect(server.posts).to.deep.equal([]);
  });

  it("one that another node has is told to move once, waited for by that node's name, and bound when it has come", async () => {
    server.primary = elsewhereUUID;
    server.configured = elsewhereUUID;
    node.want(volume({ datasetName: "data" }));
    const { reason, message, on } = (await node.volume(name)).failure ?? {};
    expect(reason).to.equal("VolumeHeldElsewhere");
    expect(message).to.equal(`dataset ${datasetUUID} is on its way here from ${elsewhereUUID}`);
    expect(on).to.deep.equal({ kind: "FlockerNode", name: elsewhereUUID });
    await again();
    expect(server.posts).to.deep.equal([JSON.stringify({ primary: hereUUID })]);
    server.primary = hereUUID;
    expect((await again()).failure?.reason, "Flocker says that it is here, and it is not mounted").to.equal(
      "DriverReplyFalse",
    );
    server.mount();
    expect((await again()).failure?.message).to.equal(undefined);
    expect(node.mountAt(node.target("a"))?.source).to.equal("dataset");
  });

  it("what is missing is said with its remedy", async () => {
    node.want(volume({ datasetName: "other" }));
    expect((await node.volume(name)).failure?.message).to.include("Flocker has no dataset of the name other");
    rmSync(join(server.root, "etc/flocker/apiuser.key"));
    expect((await again()).failure?.message).to.include("Put them into /etc/flocker of the node");
    node.want(volume({ datasetName: "other" }, true));
    expect((await node.volume(name)).phase).to.equal("released");
  });

  it("a control service that is away is waited for", async () => {
    server.stop();
    node.want(volume({ datasetName: "data" }));
    const { failure } = await node.volume(name);
    expect(failure?.reason).to.equal("ServerUnreachable");
    expect(failure?.message).to.match(
      /^the control service of Flocker at 127\.0\.0\.1:\d+ cannot be reached: .*ECONNREFUSED/,
    );
  });
});
