import * as http from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { createHttpTransport } from "../../../../src/kube/client/http-transport.ts";
import { systemTimers, systemTurns } from "../../../../src/system.ts";
import { virtualSystem } from "../virtual-system.ts";

describe("createHttpTransport, as a kubeconfig has it", () => {
  let close = () => {};
  afterEach(() => close());

  async function transportTo(path: string, credentials?: () => Promise<http.RequestOptions>) {
    const seen: { url: string; headers: http.IncomingHttpHeaders }[] = [];
    const server = http.createServer((request, response) => {
      seen.push({ url: request.url ?? "", headers: request.headers });
      response.end("{}");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const transport = createHttpTransport({
      system: { timers: systemTimers, yielder: systemTurns, log: virtualSystem().log },
      server: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`,
      token: { current: async () => "the-token", refused() {} },
      ...(credentials !== undefined && { credentials }),
      userAgent: "test",
    });
    close = () => {
      transport.close();
      server.closeAllConnections();
      server.close();
    };
    return { transport, seen };
  }

  it("asks beneath the path of the server, where a proxy has many clusters", async () => {
    for (const path of ["/k8s/clusters/c-1", "/k8s/clusters/c-1/"]) {
      const { transport, seen } = await transportTo(path);
      await transport.request({ method: "GET", path: "/api/v1/nodes", query: { limit: "1" } });
      expect(seen[0]?.url).to.equal("/k8s/clusters/c-1/api/v1/nodes?limit=1");
      expect(seen[0]?.headers.authorization).to.equal("Bearer the-token");
      close();
    }
  });

  it("is who the credentials say, asked for before each request, and sends no token of its own", async () => {
    let asked = 0;
    const { transport, seen } = await transportTo("", async () => {
      asked += 1;
      return { headers: { Authorization: `Bearer given-${asked}`, "Impersonate-User": "jane" } };
    });
    for (const path of ["/a", "/b"]) await transport.request({ method: "GET", path });
    expect(seen.map(({ headers }) => headers.authorization)).to.deep.equal(["Bearer given-1", "Bearer given-2"]);
    expect(seen[0]?.headers["impersonate-user"]).to.equal("jane");
    expect(seen[0]?.headers["user-agent"]).to.equal("test");
  });

  it("without credentials that work: no request, and their own words", async () => {
    const { transport, seen } = await transportTo("", () => Promise.reject(new Error("aws is not installed")));
    const failed = await transport.request({ method: "GET", path: "/a" }).catch((error: Error) => error.message);
    expect(failed).to.equal("aws is not installed");
    expect(seen).to.deep.equal([]);
  });
});
