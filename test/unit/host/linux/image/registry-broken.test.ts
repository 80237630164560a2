import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { expect } from "chai";
import { readOf, readText, registryAt } from "../../../../lib/servers/asked-registry.ts";
import { ContractRegistry } from "../../../../lib/servers/contract-registry.ts";

describe("Registry: broken connections", () => {
  let server: ContractRegistry;
  beforeEach(async () => {
    server = new ContractRegistry();
    await server.listen();
  });
  afterEach(() => server[Symbol.dispose]());

  const big = randomBytes(200_000).toString("hex");

  it("asks for the rest of what is missing, also where it comes from elsewhere", async () => {
    server.redirects = true;
    server.breaks = (_, bytes) => Math.ceil(bytes / 2);
    const ranges: (string | undefined)[] = [];
    server.answers = (request) => {
      if (request.url?.startsWith("/elsewhere") === true) ranges.push(request.headers.range);
      return false;
    };
    expect(await readText(registryAt(server.host), server, big)).to.equal(big);
    expect(ranges.length).to.be.within(5, 40);
    expect(ranges.slice(0, 2)).to.deep.equal([undefined, `bytes=${big.length / 2}-`]);
  });

  it("reads all again up to what is missing where a registry gives no parts", async () => {
    server.ranges = false;
    let end = 0;
    server.breaks = () => (end += 100_000);
    expect(await readText(registryAt(server.host), server, big)).to.equal(big);
    expect(server.requests).to.have.length(4);
  });

  it("gives up when ten of them, one after the other, bring nothing", async () => {
    server.breaks = () => 0;
    expect(await readText(registryAt(server.host), server, "bytes")).to.match(
      /^ServerUnreachable: .* does not answer: /,
    );
    expect(server.requests).to.have.length(11);
  });

  it("ends with the last byte that the registry has, if that is not enough", async () => {
    const { digest, size } = server.put(Buffer.from(big), "text/plain");
    server.replace({ mediaType: "", digest, size }, Buffer.from(big.slice(0, 1000)));
    expect(await readOf(registryAt(server.host), { digest, size })).to.match(/^ContentRefused: .* has not the digest /);
    server.breaks = (_, bytes) => (bytes === 1000 ? 999 : undefined);
    expect(await readOf(registryAt(server.host), { digest, size })).to.match(/^ContentRefused: /);
  });

  it("takes the end of a connection of HTTP/1.0 for the end of all only if all has come", async () => {
    let connections = 0;
    using raw = new RawServer((socket, request) => {
      const [, from = "0"] = /range: bytes=([0-9]+)-/i.exec(request) ?? [];
      const half = ++connections === 1 ? big.slice(0, 70_000) : big.slice(Number(from));
      const head =
        from === "0" ? "200 OK" : `206 Partial Content\r\nContent-Range: bytes ${from}-${big.length - 1}/${big.length}`;
      socket.end(`HTTP/1.0 ${head}\r\n\r\n${half}`);
    });
    const { digest, size } = server.put(Buffer.from(big), "text/plain");
    const registry = registryAt(await raw.listen());
    let read = "";
    for await (const piece of await registry.blob(digest, size)) read += piece.toString();
    expect(read === big).to.equal(true);
    expect(connections).to.equal(2);
  });

  it("takes all of a body whose reader is slower than the connection that is closed behind it", async () => {
    server.answers = (_, response) => {
      response.setHeader("Connection", "close");
      return false;
    };
    const { digest, size } = server.put(Buffer.from(big), "text/plain");
    let read = 0;
    for await (const piece of await registryAt(server.host).blob(digest, size)) {
      await new Promise(setImmediate);
      read += piece.length;
    }
    expect(read).to.equal(size);
  });
});

/** Answers each request with what is written to its socket. */
class RawServer implements Disposable {
  readonly #server: Server;

  constructor(answer: (socket: Socket, request: string) => void) {
    this.#server = createServer((socket) => socket.once("data", (request) => answer(socket, request.toString())));
  }

  async listen(): Promise<string> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  [Symbol.dispose](): void {
    this.#server.close();
  }
}
