import * as http from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import type { HttpTransport } from "../../../../src/kube/client/http-transport.ts";
import { createHttpTransport } from "../../../../src/kube/client/http-transport.ts";
import type { ApiResponse } from "../../../../src/kube/client/transport.ts";
import { AnswerTooLargeError, TransportError } from "../../../../src/kube/client/transport.ts";
import type { Timers } from "../../../../src/ports.ts";
import { systemTimers, systemTurns } from "../../../../src/system.ts";
import { virtualSystem } from "../virtual-system.ts";

type Handler = (request: http.IncomingMessage, response: http.ServerResponse, body: string) => void;

describe("createHttpTransport, against a real HTTP server", () => {
  let server: http.Server;
  let transport: HttpTransport;
  let handler: Handler;
  let tokens: string[];
  let connections: number;

  beforeEach(async () => {
    connections = 0;
    tokens = ["first", "second"];
    server = http.createServer((request, response) => {
      let body = "";
      request.on("data", (chunk) => {
        body += String(chunk);
      });
      request.on("end", () => handler(request, response, body));
    });
    server.on("connection", () => {
      connections += 1;
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    transport = transportOn(systemTimers);
  });

  function transportOn(timers: Timers): HttpTransport {
    const { port } = server.address() as AddressInfo;
    return createHttpTransport({
      system: { timers, yielder: systemTurns, log: virtualSystem().log },
      server: `http://127.0.0.1:${port}`,
      token: {
        current: () => Promise.resolve(tokens[0] ?? ""),
        refused: (token) => {
          if (tokens[0] === token) tokens.shift();
        },
      },
      userAgent: "test",
      maxLineLength: 1000,
    });
  }

  afterEach(() => {
    transport.close();
    server.closeAllConnections();
    server.close();
  });

  it("gives up an answer that is larger than it holds in memory, and says that this is why", async () => {
    handler = (_, response) => response.end(Buffer.alloc((64 << 20) + 1));
    const error = await transport.request({ method: "GET", path: "/" }).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(TransportError);
    expect((error as TransportError).cause).to.be.instanceOf(AnswerTooLargeError);
  });

  const json = (response: http.ServerResponse, status: number, body: unknown) => {
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify(body));
  };

  /** What a stream delivered, and how it ended. */
  function watch(options: { idleMs?: number; onObject?: (object: unknown) => void } = {}) {
    const objects: unknown[] = [];
    let opened = 0;
    let cancel = () => {};
    const ended = new Promise<{ response?: ApiResponse; error?: Error }>((resolve) => {
      cancel = transport.stream(
        { method: "GET", path: "/watch", ...(options.idleMs !== undefined && { idleMs: options.idleMs }) },
        {
          onOpen: () => {
            opened += 1;
          },
          onObject(object) {
            objects.push(object);
            options.onObject?.(object);
          },
          onEnd: resolve,
        },
      );
    });
    return { objects, ended, cancel: () => cancel(), opened: () => opened };
  }

  it("request sends method, query, token and body, and answers with status and JSON", async () => {
    let seen: unknown;
    handler = (request, response, body) => {
      seen = [request.method, request.url, request.headers.authorization, request.headers["content-type"], body];
      json(response, 201, { kind: "X" });
    };
    const answer = await transport.request({
      method: "PATCH",
      path: "/a",
      query: { q: "1 2" },
      contentType: "application/merge-patch+json",
      body: { b: 1 },
    });
    expect(answer).to.deep.equal({ status: 201, body: { kind: "X" } });
    expect(seen).to.deep.equal(["PATCH", "/a?q=1+2", "Bearer first", "application/merge-patch+json", '{"b":1}']);
  });

  it("request keeps its connection", async () => {
    handler = (_, response) => json(response, 200, {});
    for (let i = 0; i < 5; i += 1) await transport.request({ method: "GET", path: "/a" });
    expect(connections).to.equal(1);
  });

  it("request reads the token again after 401, and tries once more", async () => {
    const seen: (string | undefined)[] = [];
    handler = (request, response) => {
      seen.push(request.headers.authorization);
      json(response, request.headers.authorization === "Bearer second" ? 200 : 401, {});
    };
    expect((await transport.request({ method: "GET", path: "/a" })).status).to.equal(200);
    tokens = ["bad", "worse", "never asked for"];
    expect((await transport.request({ method: "GET", path: "/a" })).status).to.equal(401);
    expect(seen).to.deep.equal(["Bearer first", "Bearer second", "Bearer bad", "Bearer worse"]);
  });

  it("request rejects with TransportError when there is no answer in time, and when the connection breaks", async () => {
    handler = () => {};
    const late = await transport.request({ method: "GET", path: "/a", timeoutMs: 30 }).catch((e: unknown) => e);
    expect(late).to.be.instanceOf(TransportError);
    expect(String(late)).to.contain("no answer within 0.03 s");

    handler = (request) => request.socket.destroy();
    const broken = await transport.request({ method: "GET", path: "/a" }).catch((e: unknown) => e);
    expect(broken).to.be.instanceOf(TransportError);
  });

  it("request rejects when the answer breaks off", async () => {
    handler = (request, response) => {
      response.writeHead(200, { "content-length": 100 });
      response.write("{");
      setTimeout(() => request.socket.destroy(), 5);
    };
    expect(await transport.request({ method: "GET", path: "/a" }).catch((e: unknown) => e)).instanceOf(TransportError);
  });

  it("request hands over a body that is not JSON as text", async () => {
    handler = (_, response) => {
      response.writeHead(502);
      response.end("<html>");
    };
    expect(await transport.request({ method: "GET", path: "/a" })).to.deep.equal({ status: 502, body: "<html>" });
  });

  it("stream delivers each line and ends when the server closes", async () => {
    handler = (_, response) => {
      response.write('{"n":1}\n{"n"');
      response.end(":2}\n");
    };
    const stream = watch();
    expect(await stream.ended).to.deep.equal({});
    expect(stream.objects).to.deep.equal([{ n: 1 }, { n: 2 }]);
    expect(stream.opened()).to.equal(1);
  });

  it("stream tells that it is open before anything arrives", async () => {
    handler = (_, response) => response.flushHeaders();
    await new Promise<void>((resolve) => {
      const cancel = transport.stream(
        { method: "GET", path: "/watch" },
        {
          onOpen() {
            cancel();
            resolve();
          },
          onObject: () => {},
          onEnd: () => {},
        },
      );
    });
  });

  it("stream ends with the status if the server refuses, after one more try with a new token for 401", async () => {
    handler = (request, response) =>
      json(response, request.headers.authorization === "Bearer first" ? 401 : 410, { reason: "Expired" });
    expect(await watch().ended).to.deep.equal({ response: { status: 410, body: { reason: "Expired" } } });
  });

  const breaks: [string, Handler, string][] = [
    ["the connection is reset", (request) => request.socket.destroy(), "WATCH /watch: "],
    [
      "it is cut off in the middle",
      (r, response) => void response.write('{"n":1}\n', () => r.socket.destroy()),
      "WATCH",
    ],
    ["a line is no JSON", (_, response) => void response.write("nonsense\n"), "JSON"],
    ["a line has no end", (_, response) => void response.write("x".repeat(2000)), "longer than 1000"],
    ["nothing arrives", (_, response) => response.flushHeaders(), "nothing received for 40 ms"],
    ["the answer never begins", () => {}, "nothing received for 40 ms"],
  ];
  for (const [what, behaviour, message] of breaks) {
    it(`stream ends with an error if ${what}`, async () => {
      handler = behaviour;
      const { error } = await watch({ idleMs: 40 }).ended;
      expect(error).to.be.instanceOf(TransportError);
      expect(error?.message).to.contain(message);
    });
  }

  it("stream: each line starts the idle limit again", async () => {
    const system = virtualSystem();
    transport = transportOn(system.timers);
    let next = () => {};
    handler = (_, response) => {
      let sent = 0;
      next = () => {
        sent += 1;
        if (sent <= 6) response.write(`{"n":${sent}}\n`);
        else response.end();
      };
      next();
    };
    const stream = watch({ idleMs: 100, onObject: () => void system.advance(60).then(next) });
    expect(await stream.ended).to.deep.equal({});
    expect(stream.objects).to.have.length(6);
  });

  it("stream ends with an error, and nothing is thrown, if a handler throws", async () => {
    handler = (_, response) => void response.write('{"n":1}\n{"n":2}\n');
    const stream = watch({
      onObject() {
        throw new Error("handler");
      },
    });
    expect((await stream.ended).error?.message).to.contain("handler");
    expect(stream.objects).to.have.length(1);
  });

  it("stream calls nothing after cancel, and closes its connection", async () => {
    const closed = new Promise<void>((resolve) => {
      handler = (request, response) => {
        request.socket.on("close", () => resolve());
        response.write('{"n":1}\n');
      };
    });
    let ended = false;
    const stream = watch({ onObject: () => stream.cancel() });
    void stream.ended.then(() => {
      ended = true;
    });
    await closed;
    expect([stream.objects.length, ended]).to.deep.equal([1, false]);
  });
});
