import { expect } from "chai";
import { readText, registryAt } from "../../../../lib/servers/asked-registry.ts";
import { ContractRegistry } from "../../../../lib/servers/contract-registry.ts";

describe("Registry: tokens and refusals", () => {
  let server: ContractRegistry;
  beforeEach(async () => {
    server = new ContractRegistry();
    await server.listen();
  });
  afterEach(() => server[Symbol.dispose]());

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
    const registry = registryAt(server.host);
    for (const text of ["one", "two", "three", "four", "five"])
      expect(await readText(registry, server, text)).to.equal(text);
    expect(given).to.equal(3);
  });

  const challenge = (more = "") => `Bearer realm="http://${server.host}/token",service="s"${more}`;

  it("asks once more after a 401, and no more", async () => {
    server.answers = (request, response) => {
      if (request.url?.startsWith("/token") === true) response.end(JSON.stringify({ token: "bad" }));
      else response.writeHead(401, { "WWW-Authenticate": challenge() }).end();
      return true;
    };
    expect(await readText(registryAt(server.host), server, "bytes")).to.match(
      /^RepositoryRefused: .* answers 401 .* name a Secret/,
    );
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
    expect(await readText(registryAt(server.host), server, "bytes")).to.equal("bytes");
    expect(asked).to.deep.equal(["repository:team/model:pull", "s"]);
  });

  const basic = `Basic ${Buffer.from("u:p").toString("base64")}`;
  for (const [what, header, wanted] of [
    ["a token, by a challenge without quotes", () => challenge(",scope=pull").replaceAll('"', ""), "Bearer good"],
    ["the password, where Basic stands behind a scheme that is not known", () => 'Negotiate, Basic realm="r"', basic],
  ] as const) {
    it(`sends ${what}`, async () => {
      server.answers = (request, response) => {
        if (request.url?.startsWith("/token") === true) {
          response.end(JSON.stringify({ token: "good" }));
          return true;
        }
        if (request.headers.authorization === wanted) return false;
        response.writeHead(401, { "WWW-Authenticate": header() }).end();
        return true;
      };
      expect(await readText(registryAt(server.host, basic), server, "bytes")).to.equal("bytes");
    });
  }

  it("sends no credentials to a token service that somebody else names, to whom the registry has sent", async () => {
    using other = new ContractRegistry();
    await other.listen();
    const told: (string | undefined)[] = [];
    for (const status of [401, 403]) {
      other.answers = (request, response) => {
        told.push(request.headers.authorization);
        const realm = `Bearer realm="http://${other.host}/token",service="s"`;
        if (request.url?.startsWith("/token") === true) response.end(JSON.stringify({ token: "good" }));
        else response.writeHead(status, { "WWW-Authenticate": realm }).end();
        return true;
      };
      server.answers = (_, response) => {
        response.writeHead(307, { Location: `http://${other.host}/layer` }).end();
        return true;
      };
      expect(await readText(registryAt(server.host, basic), server, "bytes")).to.equal(
        `RepositoryRefused: ${server.host} sends to ${other.host}, which answers ${status}. No credentials are sent there: name a mirror`,
      );
    }
    expect(told).to.deep.equal([undefined, undefined]);
  });

  it("comes back to a service of tokens that is away, and says what else it cannot do", async () => {
    const answered = (status: number, header?: string) => {
      server.answers = (request, response) => {
        if (request.url?.startsWith("/token") === true) response.writeHead(status).end();
        else response.writeHead(401, header === undefined ? {} : { "WWW-Authenticate": header }).end();
        return true;
      };
      return readText(registryAt(server.host), server, "bytes");
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
      expect(await readText(registryAt(server.host), server, "bytes")).to.match(said);
    }
    server.answers = (_, response) => {
      response.writeHead(307, { Location: "https://[::::]/x" }).end();
      return true;
    };
    expect(await readText(registryAt(server.host), server, "bytes")).to.match(
      /^RepositoryRefused: .* to what is no address/,
    );
  });

  it("takes bytes as they are sent, whatever encoding is named", async () => {
    server.answers = (_, response) => {
      response.setHeader("Content-Encoding", "gzip");
      return false;
    };
    expect(await readText(registryAt(server.host), server, "bytes")).to.equal("bytes");
  });
});
