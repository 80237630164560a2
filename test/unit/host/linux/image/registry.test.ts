import { expect } from "chai";
import { type ImageReference, maySendTo } from "../../../../../src/host/linux/image/reference.ts";
import { Registry } from "../../../../../src/host/linux/image/registry.ts";
import { ContractRegistry } from "../../../../lib/servers/contract-registry.ts";

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
});
