import { statSync } from "node:fs";
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { expect } from "chai";
import { until } from "../../../hack/lib/until.ts";
import { resource } from "../../../src/api/names.ts";
import { createKubeClient } from "../../../src/kube/client/client.ts";
import { apiVersionOf } from "../../../src/kube/client/resource-path.ts";
import { Proxied } from "../../lib/api-proxy/proxied.ts";
import { asked, bodies, intent, paths } from "../../lib/api-proxy/requests.ts";

const watchPath = asked["intents"]?.[3]?.target ?? "";
const [path = "", search = ""] = watchPath.split("?");
const watch = { method: "GET", path, query: Object.fromEntries(new URLSearchParams(search)) } as const;

describe("ApiProxy, between an agent's transport and a server", () => {
  let world: Proxied;
  beforeEach(async () => {
    world = await Proxied.start();
  });
  afterEach(() => world[Symbol.asyncDispose]());
  const client = () => createKubeClient({ transport: world.transport, fieldManager: "nodevolume-agent" });
  const getIntent = () => client().get(resource.intents, { name: intent });
  const messageOf = (asking: Promise<unknown>) =>
    asking.then(
      () => "answered",
      (error: Error) => error.message,
    );

  it("asks with the token that the agent has not, and hands over the answer", async () => {
    const object = { kind: "NodeVolumeIntent", apiVersion: "nodevolume.dev/v1alpha1", metadata: { name: "a" } };
    world.answer = (_, response) => void response.end(JSON.stringify(object));
    expect(await getIntent()).to.deep.equal(object);
    const [{ headers, ...rest } = { headers: {} }] = world.asked;
    expect(rest).to.deep.equal({
      method: "GET",
      url: `/apis/nodevolume.dev/v1alpha1/nodevolumeintents/${intent}`,
      body: "",
    });
    const { host, ...others } = headers;
    expect(host).to.equal(`127.0.0.1:${world.port}`);
    expect(others).to.deep.equal({
      accept: "application/json",
      authorization: "Bearer token-1",
      connection: "keep-alive",
      "user-agent": "proxy/1",
    });
  });

  it("writes, and asks as the node's user where that is for it", async () => {
    await client().mergePatchStatus(
      resource.intents,
      { name: intent, uid: "8a1f", resourceVersion: "12" },
      { state: "Mounted" },
    );
    expect(world.asked[0]).to.include({ method: "PATCH", url: paths.intentStatus });
    expect(JSON.parse(world.asked[0]?.body ?? "")).to.deep.equal({
      ...bodies.intentStatus,
      status: { state: "Mounted" },
    });
    await client().get(resource.secrets, { namespace: "team", name: "db" }, { asUser: "system:node:node-1" });
    expect(world.asked[1]?.headers["impersonate-user"]).to.equal("system:node:node-1");
  });

  it("refuses what is no rule's with a reason, before the server is asked, and counts and logs it", async () => {
    expect(await messageOf(client().get(resource.intents, { name: "node-2.scratch-9a8fb0fbcd" }))).to.match(
      /403 Forbidden: api-proxy: no rule is for this path$/,
    );
    expect(await messageOf(client().get(resource.sets, { name: "a" }))).to.include("api-proxy: no rule");
    expect(world.asked).to.deep.equal([]);
    expect(await world.metric('nodevolume_api_proxy_refused_total{kind="rule"}')).to.equal(2);
    expect(world.lines.filter(({ message }) => message === "a request was not passed on")).to.have.length(1);
  });

  it("passes a refusal of the server on, with what it asks to wait", async () => {
    world.answer = (_, response) =>
      void response
        .writeHead(429, { "retry-after": "7", "x-internal": "a" })
        .end('{"kind":"Status","message":"later"}');
    const answer = await world.transport.request({ method: "GET", path: `${watch.path}/${intent}` });
    expect(answer).to.deep.equal({ status: 429, body: { kind: "Status", message: "later" }, retryAfterSeconds: 7 });
    const raw = await world.raw(
      `GET ${watch.path}/${intent} HTTP/1.1\r\nhost: a\r\nconnection: close\r\naccept: application/json\r\n\r\n`,
    );
    expect(raw)
      .to.match(/^HTTP\/1.1 429 /)
      .and.not.include("x-internal");
  });

  it("reads the token again when the server refuses it, and the agent asks once more", async () => {
    world.answer = ({ headers }, response) => {
      const good = headers.authorization === "Bearer token-2";
      world.tokens.now = "token-2";
      response.writeHead(good ? 404 : 401).end('{"kind":"Status","reason":"NotFound"}');
    };
    expect(await getIntent()).to.equal(undefined);
    expect(world.tokens.refused).to.deep.equal(["token-1"]);
    expect(world.asked).to.have.length(2);
  });

  it("says that nothing was asked if there is no token, and that it is not known if there is no answer", async () => {
    world.tokens.now = "";
    expect(await messageOf(getIntent())).to.include("503 ServiceUnavailable: api-proxy: nothing was asked: no file");
    world.tokens.now = "token-1";
    world.answer = (_, response) => response.destroy();
    expect(await messageOf(getIntent())).to.include("502 BadGateway: api-proxy: the API server did not answer");
    expect(await world.metric('nodevolume_api_proxy_requests_total{rule="intent",verb="get",code="none"}')).to.equal(2);
  });

  it("breaks off an answer that breaks off: half a list is no list", async () => {
    world.answer = (_, response) => {
      response.writeHead(200, { "content-length": "1000" });
      response.write('{"items":[', () => response.destroy());
    };
    expect(await messageOf(getIntent())).not.to.equal("answered");
    world.answer = (_, response) => void response.writeHead(200).write('{"items":[', () => response.destroy());
    expect(await messageOf(getIntent())).not.to.equal("answered");
  });

  it("hands an answer over in one write: each would wake the agent", async () => {
    let writes = 0;
    world.proxy.server.on("connection", (socket: Socket) => {
      const [write, writev] = [socket._write.bind(socket), socket._writev?.bind(socket)];
      socket._write = (...args) => {
        writes += 1;
        write(...args);
      };
      socket._writev = (...args) => {
        writes += 1;
        writev?.(...args);
      };
    });
    const { kind } = resource.intents;
    const object = { apiVersion: apiVersionOf(resource.intents), kind, metadata: { name: "a" } };
    world.answer = (_, response) => {
      response.flushHeaders(); // as an API server does with long objects, in a chunk
      response.end(JSON.stringify(object));
    };
    expect(await getIntent()).to.deep.equal(object);
    expect(writes).to.equal(1);
  });

  it("gives up at the server what the agent has given up", async () => {
    const given = Promise.withResolvers<void>();
    world.answer = (_, response) => void response.once("close", given.resolve);
    const asked = world.transport.request({ method: "GET", path: `${watch.path}/${intent}`, timeoutMs: 300 });
    expect(await messageOf(asked)).to.include("no answer within 0.3 s");
    await given.promise;
    await until("its place to be free", 5_000, () => world.proxy.inFlight.requests === 0);
  });

  describe("a watch", () => {
    let lines: ServerResponse[];
    const seen: unknown[] = [];
    let ended: { error?: Error } | undefined;
    let opened = false;
    let cancel = () => {};
    beforeEach(async () => {
      [lines, ended, opened] = [[], undefined, false];
      seen.length = 0;
      world.answer = (_, response) => {
        response.writeHead(200, { "content-type": "application/json" }).flushHeaders();
        lines.push(response);
      };
      cancel = world.transport.stream(watch, {
        onOpen() {
          opened = true;
        },
        onObject: (object) => void seen.push(object),
        onEnd(end) {
          ended = end;
        },
      });
      await until("the watch to be open", 5_000, () => opened);
    });

    it("is open before anything was seen, and shows each line as it comes", async () => {
      for (const n of [1, 2, 3]) {
        lines[0]?.write(`{"n":${n}}\n`);
        await until(`line ${n}`, 5_000, () => seen.length === n);
      }
      expect(seen).to.deep.equal([{ n: 1 }, { n: 2 }, { n: 3 }]);
      expect(world.proxy.inFlight).to.deep.equal({ requests: 0, watches: 1 });
    });

    it("ends as the server ends it", async () => {
      lines[0]?.end('{"n":1}\n');
      await until("the end", 5_000, () => ended !== undefined);
      expect([seen, ended]).to.deep.equal([[{ n: 1 }], {}]);
      await until("its place to be free", 5_000, () => world.proxy.inFlight.watches === 0);
    });

    it("breaks when the server's connection breaks", async () => {
      lines[0]?.destroy();
      await until("the end", 5_000, () => ended !== undefined);
      expect(ended?.error).to.be.instanceOf(Error);
    });

    it("ends at the server when the agent has gone", async () => {
      const closed = new Promise<void>((resolve) => lines[0]?.once("close", resolve));
      cancel();
      await closed;
      await until("its place to be free", 5_000, () => world.proxy.inFlight.watches === 0);
    });

    it("breaks when the proxy is gone, and can be opened again at the next one", async () => {
      await world.endProxy();
      await until("the end", 5_000, () => ended !== undefined);
      expect(ended?.error).to.be.instanceOf(Error);
      expect(await messageOf(getIntent())).to.match(/ECONNREFUSED|ENOENT/);
      world.answer = (_, response) => void response.writeHead(404).end('{"kind":"Status","reason":"NotFound"}');
      await world.startProxy();
      expect(await getIntent()).to.equal(undefined);
    });
  });

  it("answers 64 at once, and says of more that they are too many", async () => {
    const waiting: ServerResponse[] = [];
    world.answer = (_, response) => void waiting.push(response);
    const line = `GET ${watch.path}/${intent} HTTP/1.1\r\nhost: a\r\naccept: application/json\r\n\r\n`;
    const held = Array.from({ length: 64 }, () => world.raw(line, 10_000));
    await until("all to be under way", 5_000, () => world.proxy.inFlight.requests === 64);
    expect(await world.raw(line)).to.match(/^HTTP\/1.1 429 [\s\S]*retry-after: 1/);
    await until("the server to have heard some", 5_000, () => waiting.length > 0);
    world.answer = (_, response) => void response.end("{}");
    for (const response of waiting) response.setHeader("connection", "close").end("{}");
    await until("room", 5_000, () => world.proxy.inFlight.requests < 64);
    await world.endProxy();
    await Promise.all(held);
    await world.startProxy();
  });

  it("is this user's and root's alone", () => {
    expect(statSync(world.socket).mode & 0o777).to.equal(0o660);
    expect(statSync(`${world.directory}/api`).mode & 0o777).to.equal(0o750);
  });
});
