import * as net from "node:net";
import { expect } from "chai";
import { slow } from "../../../hack/lib/lanes/slow.ts";
import { until } from "../../../hack/lib/until.ts";
import { Proxied } from "../../lib/api-proxy/proxied.ts";
import { asked, intent, paths } from "../../lib/api-proxy/requests.ts";

const target = `/apis/nodevolume.dev/v1alpha1/nodevolumeintents/${intent}`;
const good = `GET ${target} HTTP/1.1\r\nHost: a\r\naccept: application/json\r\n\r\n`;
const secret = "GET /api/v1/secrets?limit=500 HTTP/1.1\r\nHost: a\r\naccept: application/json\r\n\r\n";
const patch = (headers: string, body: string) =>
  `PATCH ${paths.intentStatus} HTTP/1.1\r\nHost: a\r\ncontent-type: application/merge-patch+json\r\n${headers}\r\n\r\n${body}`;
const status = '{"status":{},"metadata":{"uid":"a","resourceVersion":"1"}}';

/** Bytes that are not what an agent sends, each a connection of its own; nothing of it may reach the API server. */
const hostile: { readonly [what: string]: string } = {
  "no HTTP at all": "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
  "the preface of HTTP/2": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
  "HTTP/0.9": `GET ${target}\r\n`,
  "a header before the first": `GET ${target} HTTP/1.1\r\n Host: a\r\n\r\n`,
  "a header that goes on in the next line": `GET ${target} HTTP/1.1\r\nHost: a\r\nx: a\r\n b\r\n\r\n`,
  "a bare line feed in a header": `GET ${target} HTTP/1.1\r\nHost: a\r\nuser-agent: a\nauthorization: Bearer b\r\n\r\n`,
  "a bare carriage return": `GET ${target} HTTP/1.1\r\nHost: a\rauthorization: b\r\n\r\n`,
  "a blank before the colon": `GET ${target} HTTP/1.1\r\nHost: a\r\nauthorization : b\r\n\r\n`,
  "a zero in a header": `GET ${target} HTTP/1.1\r\nHost: a\0b\r\n\r\n`,
  "two lengths": patch(`content-length: ${status.length}\r\ncontent-length: 0`, status),
  "two lengths in one": patch(`content-length: ${status.length}, ${status.length}`, status),
  "a length and chunks": patch("content-length: 4\r\ntransfer-encoding: chunked", `0\r\n\r\n${secret}`),
  chunks: patch("transfer-encoding: chunked", `${status.length.toString(16)}\r\n${status}\r\n0\r\n\r\n`),
  "chunks, spelt otherwise": patch("transfer-encoding: xchunked", `0\r\n\r\n${secret}`),
  "a body longer than it says": patch("content-length: 3", status),
  "a body where none is": `GET ${target} HTTP/1.1\r\nHost: a\r\ncontent-length: ${secret.length}\r\n\r\n${secret}`,
  "a tunnel": "CONNECT 127.0.0.1:443 HTTP/1.1\r\nHost: a\r\n\r\n",
  "another protocol": `GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n`,
  "a web socket": `GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: YQ==\r\n\r\n`,
  "an absolute form": `GET http://127.0.0.1:1${target} HTTP/1.1\r\nHost: a\r\n\r\n`,
  "a header of 100 kB": `GET ${target} HTTP/1.1\r\nHost: a\r\nuser-agent: ${"a".repeat(100_000)}\r\n\r\n`,
  "10,000 headers": `GET ${target} HTTP/1.1\r\nHost: a\r\n${"a: b\r\n".repeat(10_000)}\r\n`,
  "a body of 2 MB": patch("content-length: 2000000", "a".repeat(2_000_000)),
  "a promise to go on": patch(`content-length: ${status.length}\r\nexpect: 100-continue`, status),
};

/** Of them, what HTTP/1.1 takes for the beginning of a request. */
const unfinished = "HTTP/0.9";

describe("ApiProxy, of a client that is no agent", function () {
  this.timeout(30_000);
  let world: Proxied;
  beforeEach(async () => {
    world = await Proxied.start();
  });
  afterEach(() => world[Symbol.asyncDispose]());

  for (const [what, bytes] of Object.entries(hostile)) {
    const test = what === unfinished ? slow : it; // the proxy waits 5 s for the rest of it
    test(`asks nothing for it: ${what}`, async () => {
      const answered = await world.raw(Buffer.from(bytes, "latin1"));
      expect(world.asked, answered).to.deep.equal([]);
      expect(answered).to.match(/^$|^HTTP\/1.1 (400|403|408|417|431) /);
      expect(await world.raw(good.replace("\r\n\r\n", "\r\nconnection: close\r\n\r\n"))).to.match(/^HTTP\/1.1 200 /);
    });
  }

  it("one request behind another is judged by itself, and none is read behind one that was refused", async () => {
    const answers = [...(await world.raw(good + secret + good)).matchAll(/HTTP\/1.1 (\d+) /g)].map(([, code]) => code);
    expect(answers).to.deep.equal(["200", "403"]);
    expect(world.asked.map(({ url }) => url)).to.satisfy((urls: string[]) => urls.every((url) => url === target));
  });

  it("is not kept from its work by connections that say nothing, or half of something", async () => {
    const idle = Array.from({ length: 200 }, () => net.connect(world.socket));
    for (const socket of idle) socket.on("error", () => {}).write(`GET ${target} HTTP/1.1\r\nHo`);
    expect(await world.transport.request({ method: "GET", path: target })).to.include({ status: 200 });
    for (const socket of idle) socket.destroy();
  });

  it("lets go of a client that stops in the middle of a body", async () => {
    const socket = net.connect(world.socket);
    socket.on("error", () => {}).write(patch("content-length: 100\r\naccept: application/json", '{"status":'));
    await until("its request to be heard", 5_000, () => world.proxy.inFlight.requests === 1);
    socket.destroy();
    await until("its place to be free", 5_000, () => world.proxy.inFlight.requests === 0);
    expect(world.asked).to.deep.equal([]);
  });

  it("says who asks in no header but its own", async () => {
    for (const request of Object.values(asked)
      .flat()
      .filter(({ body }) => body === undefined)) {
      const lines = Array.from({ length: request.headers.length / 2 }, (_, i) =>
        request.headers.slice(i * 2, i * 2 + 2).join(": "),
      );
      await world.raw(`GET ${request.target} HTTP/1.1\r\n${lines.join("\r\n").replace("keep-alive", "close")}\r\n\r\n`);
    }
    const names = new Set(world.asked.flatMap(({ headers }) => Object.keys(headers)));
    expect([...names].sort()).to.deep.equal([
      "accept",
      "authorization",
      "connection",
      "host",
      "impersonate-user",
      "user-agent",
    ]);
    for (const { headers } of world.asked) {
      expect(headers.authorization).to.equal("Bearer token-1");
      expect(headers["user-agent"]).to.equal("proxy/1");
      expect(headers["impersonate-user"] ?? "system:node:node-1").to.equal("system:node:node-1");
    }
  });
});
