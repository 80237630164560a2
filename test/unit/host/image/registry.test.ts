import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { expect } from "chai";
import { type ImageReference, maySendTo } from "../../../../src/host/linux/image/reference.ts";
import { Registry } from "../../../../src/host/linux/image/registry.ts";
import { ContractRegistry } from "../../../lib/contract-registry.ts";

describe("maySendTo", () => {
  const may = (registry: string, ...urls: readonly string[]) => urls.map((url) => maySendTo(registry, new URL(url)));

  it("lets a registry send to TLS, and to the node itself only one that is there", () => {
    const tls = ["https://cdn.example/a", "https://10.0.0.1:8443/"];
    const plain = ["http://cdn.example/a", "http://10.0.0.1/", "http://169.254.169.254/latest", "ftp://localhost/a"];
    const node = ["http://127.0.0.1:10249/", "http://localhost/", "http://[::1]:80/", "http://127.1/"];
    expect(may("registry.example", ...tls)).to.deep.equal([true, true]);
    expect(may("127.0.0.1:5000", ...tls, ...node)).to.deep.equal([true, true, true, true, true, true]);
    expect(may("registry.example", ...plain, ...node)).not.to.include(true);
    expect(may("localhost:5000", ...plain)).not.to.include(true);
  });

  it("knows the node itself however it is written", () => {
    const hosts = [
      "127.0.0.1:10250",
      "0x7f000001",
      "2130706433",
      "0",
      "0.0.0.0",
      "[::]",
      "[::ffff:127.0.0.1]",
      "[::ffff:0.0.0.0]",
    ];
    const names = ["LOCALHOST", "localhost.", "a.localhost", "127.0.0.1."];
    for (const host of [...hosts, ...names]) {
      expect(maySendTo("registry.example", new URL(`https://${host}/`)), host).to.equal(false);
    }
    for (const host of ["localhost.example", "[2001:db8::1]", "[::ffff:192.0.2.1]", "128.0.0.1"]) {
      expect(maySendTo("registry.example", new URL(`https://${host}/`)), host).to.equal(true);
    }
  });
});

describe("Registry", () => {
  let server: ContractRegistry;
  beforeEach(async () => {
    server = new ContractRegistry();
    await server.listen();
  });
  afterEach(() => server[Symbol.dispose]());

  /** What it says of a blob, as one of a registry with this name. */
  async function blob(named: string): Promise<string> {
    const { digest, size } = server.put(Buffer.from("bytes"), "text/plain");
    const image: ImageReference = {
      registry: named,
      address: `http://${server.host}`,
      repository: "team/model",
      digest,
    };
    try {
      const pieces: Buffer[] = [];
      for await (const piece of await new Registry(image).blob(digest, size)) pieces.push(piece);
      return Buffer.concat(pieces).toString();
    } catch (error) {
      const { reason, message } = error as { reason?: string; message: string };
      return `${reason}: ${message}`;
    }
  }

  it("asks the node itself for nothing that another registry sends it to", async () => {
    server.redirects = true;
    expect(await blob("registry.example")).to.match(/^RepositoryRefused: .* to the node itself/);
    expect(server.requests).to.have.length(1);
    expect(await blob(server.host)).to.equal("bytes");
  });

  it("asks the node itself for no token of another registry", async () => {
    server.token = "t0ken";
    expect(await blob("registry.example")).to.match(/^RepositoryRefused: .* for a token .* to the node itself/);
    expect(server.requests).to.have.length(1);
    expect(await blob(server.host)).to.equal("bytes");
  });

  const answers = {
    "more than 64 KiB": {
      says: JSON.stringify({ token: "t0ken", more: "x".repeat(65_536) }),
      message: /more than the 65536 bytes/,
    },
    "no JSON": { says: "<html>", message: /gives no token/ },
    "no object": { says: "null", message: /gives no token/ },
  };
  for (const [title, { says, message }] of Object.entries(answers)) {
    it(`refuses a token of ${title}`, async () => {
      server.token = "t0ken";
      server.answers = (request, response) => {
        if (!request.url?.startsWith("/token")) return false;
        response.end(says);
        return true;
      };
      expect(await blob(server.host))
        .to.match(/^RepositoryRefused: /)
        .and.match(message);
    });
  }

  it("asks for a token on each 401, as often as a registry wants a new one", async () => {
    let left = 0;
    let given = 0;
    server.answers = (request, response) => {
      if (request.url?.startsWith("/token") === true) {
        left = 2;
        response.end(JSON.stringify({ token: `t${++given}` }));
        return true;
      }
      if (request.headers.authorization === `Bearer t${given}` && left-- > 0) return false;
      response.writeHead(401, { "WWW-Authenticate": challenge() }).end();
      return true;
    };
    const registry = new Registry(imageOf(server.host));
    for (const text of ["one", "two", "three", "four", "five"]) expect(await content(registry, text)).to.equal(text);
    expect(given).to.equal(3);
  });

  const challenge = (more = "") => `Bearer realm="http://${server.host}/token",service="s"${more}`;

  it("asks once more after a 401, and no more", async () => {
    server.answers = (request, response) => {
      if (request.url?.startsWith("/token") === true) response.end(JSON.stringify({ token: "bad" }));
      else response.writeHead(401, { "WWW-Authenticate": challenge() }).end();
      return true;
    };
    expect(await blob(server.host)).to.match(/^RepositoryRefused: .* answers 401 .* name a Secret/);
    expect(server.requests.map((path) => path.split("/")[1])).to.deep.equal(["v2", "token", "v2"]);
  });

  it("asks for a token to pull the repository where the registry does not say for what", async () => {
    const asked: (string | null)[] = [];
    server.answers = (request, response) => {
      const url = new URL(request.url ?? "", "http://x");
      if (url.pathname === "/token") {
        asked.push(url.searchParams.get("scope"), url.searchParams.get("service"));
        response.end(JSON.stringify({ access_token: "good" }));
        return true;
      }
      if (request.headers.authorization === "Bearer good") return false;
      response.writeHead(401, { "WWW-Authenticate": challenge() }).end();
      return true;
    };
    expect(await blob(server.host)).to.equal("bytes");
    expect(asked).to.deep.equal(["repository:team/model:pull", "s"]);
  });

  it("comes back to a service of tokens that is away, and says what else it cannot do", async () => {
    const answered = (status: number, header?: string) => {
      server.answers = (request, response) => {
        if (request.url?.startsWith("/token") === true) response.writeHead(status).end();
        else response.writeHead(401, header === undefined ? {} : { "WWW-Authenticate": header }).end();
        return true;
      };
      return blob(server.host);
    };
    expect(await answered(503, challenge())).to.match(/^ServerUnreachable: .* answers 503 for a token/);
    expect(await answered(403, challenge())).to.match(/^RepositoryRefused: .* gives no token/);
    expect(await answered(0, "Negotiate, NTLM")).to.match(
      /^RepositoryRefused: .* asks for negotiate, ntlm, .* name a mirror/,
    );
    expect(await answered(0, 'Bearer realm="no address"')).to.match(/^RepositoryRefused: .* to what is no address/);
    expect(await answered(0)).to.match(/^RepositoryRefused: .* answers 401 .* name a Secret/);
  });

  it("says what a registry that answers something else wants, and not that credentials are missing", async () => {
    for (const [status, said] of [
      [400, /^RepositoryRefused: .* answers 400 .* correct the reference/],
      [403, /^RepositoryRefused: .* answers 403 .* name a Secret/],
      [404, /^RevisionNotFound: /],
      [429, /^ServerUnreachable: /],
      [503, /^ServerUnreachable: /],
    ] as const) {
      server.answers = (_, response) => {
        response.writeHead(status).end();
        return true;
      };
      expect(await blob(server.host)).to.match(said);
    }
    server.answers = (_, response) => {
      response.writeHead(307, { Location: "https://[::::]/x" }).end();
      return true;
    };
    expect(await blob(server.host)).to.match(/^RepositoryRefused: .* to what is no address/);
  });

  it("takes bytes as they are sent, whatever encoding is named", async () => {
    server.answers = (_, response) => {
      response.setHeader("Content-Encoding", "gzip");
      return false;
    };
    expect(await blob(server.host)).to.equal("bytes");
  });

  describe("of broken connections", () => {
    const big = randomBytes(200_000).toString("hex");

    it("asks for the rest of what is missing, also where it comes from elsewhere", async () => {
      server.redirects = true;
      server.breaks = (_, bytes) => Math.ceil(bytes / 2);
      const ranges: (string | undefined)[] = [];
      server.answers = (request) => {
        if (request.url?.startsWith("/elsewhere") === true) ranges.push(request.headers.range);
        return false;
      };
      expect(await content(new Registry(imageOf(server.host)), big)).to.equal(big);
      expect(ranges.length).to.be.within(5, 40);
      expect(ranges.slice(0, 2)).to.deep.equal([undefined, `bytes=${big.length / 2}-`]);
    });

    it("reads all again up to what is missing where a registry gives no parts", async () => {
      server.ranges = false;
      let end = 0;
      server.breaks = () => (end += 100_000);
      expect(await content(new Registry(imageOf(server.host)), big)).to.equal(big);
      expect(server.requests).to.have.length(4);
    });

    it("gives up when ten of them, one after the other, bring nothing", async () => {
      server.breaks = () => 0;
      expect(await blob(server.host)).to.match(/^ServerUnreachable: .* does not answer: /);
      expect(server.requests).to.have.length(11);
    });

    it("ends with the last byte that the registry has, if that is not enough", async () => {
      const { digest, size } = server.put(Buffer.from(big), "text/plain");
      server.replace({ mediaType: "", digest, size }, Buffer.from(big.slice(0, 1000)));
      expect(await failed(new Registry(imageOf(server.host)), digest, size)).to.match(
        /^ContentRefused: .* something else/,
      );
      server.breaks = (_, bytes) => (bytes === 1000 ? 999 : undefined);
      expect(await failed(new Registry(imageOf(server.host)), digest, size)).to.match(/^ContentRefused: /);
    });

    it("takes the end of a connection of HTTP/1.0 for the end of all only if all has come", async () => {
      let connections = 0;
      using raw = new RawServer((socket, request) => {
        const [, from = "0"] = /range: bytes=([0-9]+)-/i.exec(request) ?? [];
        const half = ++connections === 1 ? big.slice(0, 70_000) : big.slice(Number(from));
        const head =
          from === "0"
            ? "200 OK"
            : `206 Partial Content\r\nContent-Range: bytes ${from}-${big.length - 1}/${big.length}`;
        socket.end(`HTTP/1.0 ${head}\r\n\r\n${half}`);
      });
      const { digest, size } = server.put(Buffer.from(big), "text/plain");
      const registry = new Registry(imageOf(await raw.listen()));
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
      for await (const piece of await new Registry(imageOf(server.host)).blob(digest, size)) {
        await new Promise(setImmediate);
        read += piece.length;
      }
      expect(read).to.equal(size);
    });
  });

  const imageOf = (host: string): ImageReference => ({
    ...{ registry: host, address: `http://${host}`, repository: "team/model" },
    digest: `sha256:${"0".repeat(64)}`,
  });

  async function content(registry: Registry, text: string): Promise<string> {
    const { digest, size } = server.put(Buffer.from(text), "text/plain");
    const pieces: Buffer[] = [];
    for await (const piece of await registry.blob(digest, size)) pieces.push(piece);
    return Buffer.concat(pieces).toString();
  }

  async function failed(registry: Registry, digest: string, size: number): Promise<string> {
    try {
      for await (const _ of await registry.blob(digest, size));
      return "read";
    } catch (error) {
      const { reason, message } = error as { reason?: string; message: string };
      return `${reason}: ${message}`;
    }
  }
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
