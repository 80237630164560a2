import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { outcomeOf } from "../../../../src/csi/client/error-classes.ts";
import { grpcDialer, longestReply } from "../../../../src/csi/client/grpc-connection.ts";
import { systemClock } from "../../../../src/system.ts";
import { calling, connected, errorOf } from "../clients.ts";
import { FakeDriver, type HeldCall } from "../fake-driver.ts";

describe("a connection to a driver", () => {
  let driver: FakeDriver;
  let open: ReturnType<typeof connected>;
  beforeEach(async () => {
    driver = await new FakeDriver().start();
    open = connected(driver);
  });
  afterEach(() => {
    open.close();
    driver.end();
  });

  /** Resolves with the next call of `rpc`, which the test then answers. */
  const held = (rpc: HeldCall["rpc"]) => new Promise<HeldCall>((resolve) => driver.answers.set(rpc, resolve));

  it("is refused to anything but the absolute path of a socket", () => {
    for (const path of ["dns:///example.com", "example.com:443", "relative.sock", "", "unix-abstract:x"]) {
      expect(() => grpcDialer(systemClock).dial(path), path).to.throw("not the absolute path of a unix socket");
    }
  });

  it("is the same one for all calls, and capabilities are asked for once on it", async () => {
    await Promise.all([open.node.capabilities(), open.node.capabilities(), open.node.info()]);
    await open.node.capabilities();
    const count = (rpc: string) => driver.calls.filter((called) => called === rpc).length;
    expect([count("GetPluginInfo"), count("NodeGetCapabilities"), count("NodeGetInfo")]).to.deep.equal([1, 1, 1]);
  });

  it("asks for capabilities again after a failure", async () => {
    driver.answers.set("NodeGetCapabilities", { work: "before", code: 13 });
    expect((await errorOf(open.node.capabilities())).errorClass).to.equal("transient");
    driver.answers.clear();
    expect((await open.node.capabilities()).stageUnstage).to.equal(false);
  });

  it("asks a driver that came back for its name and capabilities again", async () => {
    await open.node.capabilities();
    driver.stop();
    const error = await errorOf(open.node.info());
    expect([error.reason, error.errorClass]).to.deep.equal(["DriverUnavailable", "transient"]);
    driver.calls.length = 0;
    await returned(open.connection, () => driver.start());
    await open.node.capabilities();
    expect(driver.calls).to.deep.equal(["GetPluginInfo", "NodeGetCapabilities"]);
  });

  it("calls nothing of another driver that has got the socket", async () => {
    await open.node.capabilities();
    driver.stop();
    await errorOf(open.node.info());
    const { name } = driver;
    driver.name = "other.csi.example.com";
    driver.calls.length = 0;
    await returned(open.connection, () => driver.start());
    const error = await errorOf(calling(open.node, open.client).NodeStageVolume());
    expect([error.reason, error.errorClass]).to.deep.equal(["DriverReplyInvalid", "transient"]);
    expect(error.message).to.equal(
      `driver ${name}: GetPluginInfo: another driver answers, which calls itself: other.csi.example.com`,
    );
    expect(driver.calls).to.not.include("NodeStageVolume");
  });

  it("that nobody answers has sent nothing: transient", async () => {
    driver.stop();
    const error = await errorOf(calling(open.node, open.client).NodeStageVolume());
    expect([error.reason, error.errorClass]).to.deep.equal(["DriverUnavailable", "transient"]);
    expect(error.message).to.include("NodeStageVolume: nobody answers on its socket");
  });

  it("that breaks in the middle of a call: uncertain", async () => {
    const call = held("NodeStageVolume");
    const stage = errorOf(calling(open.node, open.client).NodeStageVolume());
    await call;
    driver.stop();
    const { reason, errorClass } = await stage;
    expect([reason, errorClass]).to.deep.equal(["DriverUnavailable", "uncertain"]);
  });

  it("that takes an answer past the deadline: uncertain, and the driver may do it later", async () => {
    const call = held("NodeStageVolume");
    using front = await Front.of(driver);
    open.close();
    open = connected(front);
    await open.client.checkName();
    const answer = open.connection.call("/csi.v1.Node/NodeStageVolume", new Uint8Array(), 500);
    const { answer: late } = await call;
    front.isMute = true; // the driver is told the deadline too, and may be the first to say that it is over
    expect(await answer).to.include({ kind: "status", code: "DEADLINE_EXCEEDED", spoken: false });
    for (const spoken of [false, true]) {
      expect(outcomeOf("NodeStageVolume", "DEADLINE_EXCEEDED", spoken)).to.include({ errorClass: "uncertain" });
    }
    late({ work: "after" });
    expect(driver.staged.size).to.equal(1);
  });

  const block = { kind: "block" } as const;
  const unreadable = new Uint8Array([0x0a, 0xff]);
  for (const [what, answer] of [
    ["longer than is taken", { work: "after", bytes: new Uint8Array(longestReply + 1) }],
    ["no message", { work: "after", bytes: unreadable }],
  ] as const) {
    it(`with a reply that is ${what}: uncertain for what changes, transient for what asks`, async () => {
      for (const rpc of ["NodeStageVolume", "NodePublishVolume", "NodeExpandVolume", "NodeGetVolumeStats"] as const) {
        driver.answers.set(rpc, answer);
        const { reason, errorClass } = await errorOf(calling(open.node, open.client)[rpc]());
        const expected = rpc === "NodeGetVolumeStats" ? "transient" : "uncertain";
        expect([rpc, reason, errorClass]).to.deep.equal([rpc, "DriverReplyInvalid", expected]);
      }
    });
  }

  it("with a final status that cannot be told from one that the library made up: uncertain", async () => {
    driver.answers.set("NodeStageVolume", { work: "before", code: 13, text: "x", headersFirst: true });
    const { errorClass, reason } = await errorOf(calling(open.node, open.client).NodeStageVolume());
    expect([errorClass, reason]).to.deep.equal(["uncertain", "DriverFailed"]);
  });

  it("with a status that gRPC does not have: uncertain", async () => {
    driver.answers.set("NodeStageVolume", { work: "before", code: 99, text: "x" });
    const { errorClass, reason, message } = await errorOf(calling(open.node, open.client).NodeStageVolume());
    expect([errorClass, reason]).to.deep.equal(["uncertain", "DriverReplyInvalid"]);
    expect(message).to.include("a status that is none of gRPC's 17: x");
  });

  it("keeps a long text to 1024 characters of one line", async () => {
    driver.answers.set("NodeGetInfo", { work: "before", code: 13, text: `a\n\u001b[31mb${"é".repeat(3000)}` });
    const { message } = await errorOf(open.node.info());
    expect(message).to.have.length(1024);
    expect(message).to.include("a\\x0a\\x1b[31mbé").and.to.match(/…$/);
  });

  it("is not begun for a request that cannot be written: the call rejects, and throws nothing", async () => {
    const request = { volumeID: "v", volumePath: "/t", requiredBytes: "1Gi", secrets: new Map([["key", "hunter2"]]) };
    const call = open.node.expand({
      ...request,
      capability: { access: { mode: "SINGLE_NODE_WRITER" }, volume: block },
    });
    const text = await call.then(String, String);
    expect(text).to.include("1Gi").and.not.include("hunter2");
    expect(driver.calls).to.deep.equal([]);
  });

  it("that is closed lets calls end, and sends no other", async () => {
    const call = held("NodeUnstageVolume");
    const { NodeUnstageVolume, NodeGetInfo } = calling(open.node, open.client);
    const unstage = NodeUnstageVolume();
    const { answer } = await call;
    open.close();
    answer({ work: "after" });
    await unstage;
    expect((await errorOf(NodeGetInfo())).reason).to.equal("DriverUnavailable");
  });
});

describe("a driver that accepts connections and says nothing", () => {
  it("costs the time of one attempt, and leaves no descriptor open", async () => {
    const directory = mkdtempSync(join(tmpdir(), "nodevolume-csi-"));
    const path = join(directory, "mute.sock");
    const accepted = new Set<Socket>();
    const server: Server = createServer((socket) => accepted.add(socket.on("error", () => {})));
    await new Promise<void>((resolve) => server.listen(path, resolve));
    try {
      const descriptors = () => readdirSync("/proc/self/fd").length;
      const before = descriptors();
      for (let attempt = 0; attempt < 5; attempt++) {
        const connection = grpcDialer(systemClock).dial(path);
        expect(await connection.ready(50)).to.equal(false);
        connection.close();
      }
      await Promise.all([...accepted].map((socket) => closed(socket)));
      expect(accepted.size).to.equal(5);
      expect(descriptors()).to.be.at.most(before);
    } finally {
      for (const socket of accepted) socket.destroy();
      server.close();
      rmSync(directory, { recursive: true, force: true });
    }
  });
});

/** A socket in front of a driver's, through which nothing comes back while it is mute. */
class Front implements Disposable {
  isMute = false;
  readonly name: string;
  readonly socket: string;
  readonly #server: Server;

  private constructor(driver: FakeDriver) {
    this.name = driver.name;
    this.socket = `${driver.socket}.front`;
    this.#server = createServer((client) => {
      const behind = connect(driver.socket);
      client.on("error", () => {}).pipe(behind);
      behind.on("error", () => {}).on("data", (bytes) => this.isMute || client.write(bytes));
      behind.on("close", () => client.destroy());
    });
  }

  static async of(driver: FakeDriver): Promise<Front> {
    const front = new Front(driver);
    await new Promise<void>((resolve) => front.#server.listen(front.socket, resolve));
    return front;
  }

  [Symbol.dispose](): void {
    this.#server.close();
  }
}

function closed(socket: Socket): Promise<void> {
  socket.resume();
  return new Promise((resolve) => {
    if (socket.destroyed) resolve();
    else socket.once("close", resolve);
  });
}

function returned(
  connection: ReturnType<typeof connected>["connection"],
  start: () => Promise<unknown>,
): Promise<void> {
  return new Promise((resolve, reject) => {
    connection.onReturn(resolve);
    start().catch(reject);
  });
}
