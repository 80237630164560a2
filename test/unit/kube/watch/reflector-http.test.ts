import * as http from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import type { KubeObject } from "../../../../src/api/meta.ts";
import { resource } from "../../../../src/api/names.ts";
import { createHttpTransport } from "../../../../src/kube/client/http-transport.ts";
import type { Reflector } from "../../../../src/kube/watch/reflector.ts";
import { createReflector } from "../../../../src/kube/watch/reflector.ts";
import { systemClock, systemTimers, systemTurns } from "../../../../src/system.ts";
import { virtualSystem } from "../virtual-system.ts";

describe("createReflector, over real HTTP", () => {
  type Watch = { url: URL; response: http.ServerResponse };
  let server: http.Server;
  let reflector: Reflector<KubeObject>;
  let close: () => void;
  let opened: (watch: Watch) => void;
  let onWatch: (watch: Watch) => void;

  beforeEach(async () => {
    onWatch = (watch) => opened(watch);
    server = http.createServer((request, response) =>
      onWatch({ url: new URL(request.url ?? "", "http://x"), response }),
    );
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const { log } = virtualSystem();
    // No delay before a retry: the delays are tested under a virtual clock.
    const system = {
      clock: systemClock,
      timers: systemTimers,
      yielder: systemTurns,
      random: { next: () => 0, uuid: () => "" },
      log,
    };
    const transport = createHttpTransport({
      system,
      server: `http://127.0.0.1:${port}`,
      token: { current: () => Promise.resolve("t"), refused: () => {} },
      userAgent: "test",
    });
    close = () => transport.close();
    reflector = createReflector<KubeObject>({
      system,
      transport,
      resource: resource.nodes,
      project: (raw) => raw as KubeObject,
    });
  });

  afterEach(() => {
    reflector.stop();
    close();
    server.closeAllConnections();
    server.close();
  });

  const nextWatch = () =>
    new Promise<Watch>((resolve) => {
      opened = resolve;
    });
  const event = (type: string, name: string, resourceVersion: string) =>
    `${JSON.stringify({ type, object: { metadata: { name, uid: name, resourceVersion } } })}\n`;
  const end = (resourceVersion: string) => {
    const annotations = { "k8s.io/initial-events-end": "true" };
    return `${JSON.stringify({ type: "BOOKMARK", object: { metadata: { resourceVersion, annotations } } })}\n`;
  };
  const changed = () =>
    new Promise<string>((resolve) => {
      const cancel = reflector.store.subscribe({
        onAdd: (o) => settle(`+${o.metadata.name}`),
        onDelete: (o) => settle(`-${o.metadata.name}`),
      });
      const settle = (what: string) => {
        cancel();
        resolve(what);
      };
    });

  async function synced(): Promise<Watch> {
    const first = nextWatch();
    reflector.start();
    const watch = await first;
    watch.response.write(event("ADDED", "n1", "5") + end("7"));
    await reflector.synced();
    return watch;
  }

  const breaks: [string, (watch: Watch) => void, string | null][] = [
    ["a reset connection", ({ response }) => void response.destroy(), "7"],
    ["a line cut in two", ({ response }) => void response.write('{"type":', () => response.destroy()), "7"],
    ["a line that is no JSON", ({ response }) => void response.write("<html>\n"), "7"],
    ["an ERROR event 500", ({ response }) => void response.write('{"type":"ERROR","object":{"code":500}}\n'), "7"],
    ["an ERROR event 410", ({ response }) => void response.write('{"type":"ERROR","object":{"code":410}}\n'), null],
    ["a bookmark and a reset", ({ response }) => void response.write(bookmark("9"), () => response.destroy()), "9"],
  ];
  const bookmark = (resourceVersion: string) =>
    `${JSON.stringify({ type: "BOOKMARK", object: { metadata: { resourceVersion } } })}\n`;

  for (const [what, hurt, from] of breaks) {
    it(`goes on after ${what} ${from === null ? "with a new list" : `from resourceVersion ${from}`}`, async () => {
      const watch = await synced();
      const again = nextWatch();
      hurt(watch);
      const second = await again;
      expect(second.url.searchParams.get("resourceVersion")).to.equal(from);
      expect(second.url.searchParams.get("sendInitialEvents")).to.equal(from === null ? "true" : null);
      const change = changed();
      second.response.write(event("ADDED", "n2", "10") + (from === null ? end("11") : ""));
      expect(await change).to.equal("+n2");
    });
  }

  for (const status of [500, 503, 429, 403]) {
    it(`tries again after the answer ${status}`, async () => {
      const watch = await synced();
      let refused = false;
      onWatch = (next) => {
        if (refused) return opened(next);
        refused = true;
        next.response.writeHead(status).end("{}");
      };
      const again = nextWatch();
      watch.response.destroy();
      expect((await again).url.searchParams.get("resourceVersion")).to.equal("7");
    });
  }

  it("takes in a change and a deletion among the initial events", async () => {
    const first = nextWatch();
    reflector.start();
    const { response } = await first;
    response.write(event("ADDED", "n1", "5") + event("ADDED", "n2", "6") + event("DELETED", "n1", "7"));
    response.write(event("MODIFIED", "n2", "8") + end("8"));
    await reflector.synced();
    expect([...reflector.store.list()].map(({ metadata }) => [metadata.name, metadata.resourceVersion])).to.deep.equal([
      ["n2", "8"],
    ]);
  });

  it("connection refused: waits, keeps its objects, and says so", async () => {
    const watch = await synced();
    const lost = new Promise<void>((resolve) => {
      reflector.store.subscribe({ onState: ({ connected }) => !connected && resolve() });
    });
    server.close();
    watch.response.destroy();
    await lost;
    expect(reflector.store.get("n1")?.metadata.name).to.equal("n1");
  });
});
