import * as https from "node:https";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { selfSigned } from "../../../../src/http/self-signed.ts";
import { createHttpTransport } from "../../../../src/kube/client/http-transport.ts";
import { systemTimers, systemTurns } from "../../../../src/system.ts";
import { virtualSystem } from "../virtual-system.ts";

describe("createHttpTransport, against a real HTTPS server", () => {
  const before = selfSigned("before");
  const after = selfSigned("after");

  let end = () => {};
  afterEach(() => end());

  async function story(file: () => string) {
    const server = https.createServer(before, (_, response) => {
      // One connection a request, so that each is verified anew.
      response.setHeader("connection", "close").end("{}");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    let reads = 0;
    const transport = createHttpTransport({
      system: { timers: systemTimers, yielder: systemTurns, log: virtualSystem().log },
      server: `https://127.0.0.1:${port}`,
      ca: before.cert,
      readCA() {
        reads += 1;
        return Promise.resolve(file());
      },
      token: { current: () => Promise.resolve("token"), refused() {} },
      userAgent: "test",
    });
    const ask = () =>
      transport.request({ method: "GET", path: "/" }).then(
        ({ status }) => status,
        (error: Error) => error.message,
      );
    const watch = () =>
      new Promise<string>((resolve) => {
        const onEnd = ({ error }: { error?: Error }) => resolve(error === undefined ? "closed" : error.message);
        transport.stream({ method: "GET", path: "/" }, { onObject() {}, onEnd });
      });
    /** As a restart of the API server with a certificate of another authority. */
    const rotate = () => server.setSecureContext(after);
    end = () => {
      transport.close();
      server.closeAllConnections();
      server.close();
    };
    return { ask, watch, rotate, reads: () => reads };
  }

  it("reads the authority again when the server's certificate is not signed by it, and goes on", async () => {
    let file = before.cert;
    const { ask, watch, rotate, reads } = await story(() => file);
    expect(await ask()).to.equal(200);
    rotate();
    expect(await ask(), "the file has not been exchanged yet").to.contain("self-signed certificate");
    file = `${before.cert}${after.cert}`;
    expect(await watch()).to.contain("self-signed certificate");
    expect([await ask(), await watch(), await ask()]).to.deep.equal([200, "closed", 200]);
    expect(reads()).to.equal(2);
  });

  it("goes on with the authority that it has if the file cannot be read", async () => {
    const { ask, rotate } = await story(() => {
      throw new Error("gone");
    });
    rotate();
    expect(await ask()).to.contain("self-signed certificate");
    expect(await ask()).to.contain("self-signed certificate");
  });
});
