import { execFile } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import * as https from "node:https";
import { connect } from "node:net";
import { promisify } from "node:util";
import { expect } from "chai";
import { Counter, Registry } from "prom-client";
import { slow } from "../../../hack/lib/lanes/slow.ts";
import { root } from "../../../hack/lib/root.ts";
import { startHealthServer } from "../../../src/http/health-server.ts";
import type { Listener } from "../../../src/http/http-listener.ts";
import { collectProcessMetrics } from "../../../src/http/role-metrics.ts";
import { selfSigned } from "../../../src/http/self-signed.ts";
import { virtualSystem } from "../kube/virtual-system.ts";

const run = promisify(execFile);

describe("startHealthServer", () => {
  let server: Listener;
  let ready: boolean;
  let sick: string | undefined;
  let remark: string | undefined;
  const { log, lines } = virtualSystem();

  before(async () => {
    const registry = new Registry();
    new Counter({ name: "things_total", help: "Things", registers: [registry] }).inc(3);
    server = await startHealthServer({
      address: { host: "127.0.0.1", port: 0 },
      registry,
      notReady: () => (ready ? undefined : "a reason"),
      unhealthy: () => sick,
      remark: () => remark,
      log,
    });
  });
  after(() => server.stop());

  const get = (path: string, method = "GET") => fetch(`http://127.0.0.1:${server.port}${path}`, { method });

  it("names the port that it got", () => {
    expect(lines[0]?.meta).to.deep.equal({ host: "127.0.0.1", port: server.port });
  });

  it("serves metrics in the format of Prometheus", async () => {
    const answer = await get("/metrics");
    expect(answer.headers.get("content-type")).to.contain("text/plain");
    expect(await answer.text()).to.contain("things_total 3");
  });

  it("is healthy when it answers, and ready when it is", async () => {
    expect((await get("/healthz")).status).to.equal(200);
    ready = false;
    expect((await get("/readyz")).status).to.equal(503);
    ready = true;
    expect((await get("/readyz?verbose")).status).to.equal(200);
  });

  it("says what is wrong although it is ready", async () => {
    remark = "a policy is another";
    const answer = await get("/readyz");
    expect([answer.status, await answer.text()]).to.deep.equal([200, "ok, but a policy is another\n"]);
    remark = undefined;
    expect(await (await get("/readyz")).text()).to.equal("ok\n");
  });

  it("says why it is not ready, and why not healthy", async () => {
    ready = false;
    expect(await (await get("/readyz")).text()).to.equal("a reason\n");
    sick = "stuck";
    const answer = await get("/healthz");
    expect([answer.status, await answer.text()]).to.deep.equal([503, "stuck\n"]);
    sick = undefined;
  });

  it("refuses the rest", async () => {
    expect((await get("/")).status).to.equal(404);
    expect((await get("/metrics", "POST")).status).to.equal(405);
  });

  it("answers what is no URL, and says nothing of it", async () => {
    const before = lines.length;
    expect(await raw("GET // HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")).to.match(/^HTTP\/1.1 404/);
    expect(lines).to.have.length(before);
  });

  slow("ends a request that is never sent whole", async () => {
    expect(await raw("GET /healthz HTTP/1.1\r\nX-Slow: ")).to.match(/^HTTP\/1.1 408/);
  });

  it("gives one address no more than 64 connections, and the others theirs", async () => {
    const taken = Array.from({ length: 64 }, () =>
      connect({ port: server.port, host: "127.0.0.1", localAddress: "127.0.0.7" }),
    );
    try {
      await Promise.all(taken.map((socket) => once(socket, "connect")));
      const late = connect({ port: server.port, host: "127.0.0.1", localAddress: "127.0.0.7" });
      await once(
        late.on("error", () => undefined),
        "close",
      );
      expect((await get("/healthz")).status, "of another address").to.equal(200);
    } finally {
      for (const socket of taken) socket.destroy();
    }
  });

  async function raw(request: string): Promise<string> {
    const socket = connect(server.port, "127.0.0.1");
    socket.setEncoding("utf8");
    socket.write(request);
    let answer = "";
    for await (const text of socket) answer += text;
    return answer;
  }

  it("without a host it listens on IPv6 too, where the kernel has it", async () => {
    const address = { host: undefined, port: 0 };
    const everywhere = await startHealthServer({ address, registry: new Registry(), notReady: () => undefined, log });
    const { meta } = lines.at(-1) ?? {};
    await everywhere.stop();
    expect(meta?.["host"]).to.equal(existsSync("/proc/net/if_inet6") ? "::" : "0.0.0.0");
  });

  it("rejects if the port is taken", async () => {
    const address = { host: "127.0.0.1", port: server.port };
    const taken = await startHealthServer({ address, registry: new Registry(), notReady: () => undefined, log }).catch(
      (error: NodeJS.ErrnoException) => error.code,
    );
    expect(taken).to.equal("EADDRINUSE");
  });
});

describe("startHealthServer with TLS", () => {
  const tls = selfSigned("test");
  let server: Listener;
  let down = false;
  const addresses = new Set<string>();
  before(async () => {
    const { log } = virtualSystem();
    const registry = new Registry();
    new Counter({ name: "things_total", help: "Things", registers: [registry] }).inc(3);
    server = await startHealthServer({
      address: { host: "127.0.0.1", port: 0 },
      registry,
      notReady: () => "claim apps/data",
      remark: () => "policy x",
      secure: {
        tls,
        async access(token, from) {
          if (down) throw new Error("no answer");
          addresses.add(from);
          if (token === "one-too-many") return "limited";
          return token === "good" ? "allowed" : "forbidden";
        },
      },
      log,
    });
  });
  after(() => server.stop());

  function get(path: string, authorization?: string): Promise<[status: number | undefined, body: string]> {
    return new Promise((resolve, reject) => {
      const headers = authorization === undefined ? {} : { authorization };
      const options = { host: "127.0.0.1", port: server.port, path, headers, ca: tls.cert, agent: false };
      const request = https.get(options, (answer) => {
        let body = "";
        answer.setEncoding("utf8").on("data", (text: string) => {
          body += text;
        });
        answer.on("end", () => resolve([answer.statusCode, body]));
      });
      request.on("error", reject);
    });
  }

  it("shows metrics to who may get them alone", async () => {
    for (const nobody of [undefined, "Basic Z29vZA==", "Bearer ", "Bearer a b"]) {
      expect((await get("/metrics", nobody))[0], nobody).to.equal(401);
    }
    expect((await get("/metrics", "Bearer bad"))[0]).to.equal(403);
    const [status, body] = await get("/metrics", "bearer good");
    expect(status).to.equal(200);
    expect(body).to.contain("things_total 3");
  });

  it("says who shows too many tokens by 429, and tells whose they are by the address", async () => {
    expect((await get("/metrics", "Bearer one-too-many"))[0]).to.equal(429);
    expect(await get("/readyz", "Bearer one-too-many")).to.deep.equal([503, "not ok\n"]);
    expect([...addresses]).to.deep.equal(["127.0.0.1"]);
  });

  it("says who is not ready to everybody, and why to them alone", async () => {
    expect(await get("/readyz")).to.deep.equal([503, "not ok\n"]);
    expect(await get("/readyz", "Bearer bad")).to.deep.equal([503, "not ok\n"]);
    expect(await get("/readyz", "Bearer good")).to.deep.equal([503, "claim apps/data\n"]);
    expect(await get("/healthz")).to.deep.equal([200, "ok\n"]);
  });

  it("shows nothing while it cannot be known who asks, and answers probes", async () => {
    down = true;
    expect((await get("/metrics", "Bearer good"))[0]).to.equal(503);
    expect(await get("/healthz", "Bearer good")).to.deep.equal([200, "ok\n"]);
    down = false;
  });

  it("answers nobody in the clear", async () => {
    const said = await fetch(`http://127.0.0.1:${server.port}/healthz`).catch(() => "nothing");
    expect(said).to.equal("nothing");
  });
});

describe("collectProcessMetrics", () => {
  it("has what Prometheus' dashboards look for, and no statistics that need a timer", async () => {
    const registry = new Registry();
    collectProcessMetrics(registry);
    const text = await registry.metrics();
    for (const name of ["process_cpu_seconds_total", "process_resident_memory_bytes", "nodejs_eventloop_lag_seconds"]) {
      expect(text).to.match(new RegExp(`^${name} `, "m"));
    }
    expect(text).not.to.match(/nodejs_eventloop_lag_(min|max|mean|stddev|p\d+)/);
  });

  it("leaves a process alone that has nothing to do", async function () {
    this.timeout(20_000);
    const program = `
      import { Registry } from "prom-client";
      import { collectProcessMetrics } from "./src/http/role-metrics.ts";
      collectProcessMetrics(new Registry());
      setTimeout(() => {
        const before = process.resourceUsage();
        setTimeout(() => {
          const { voluntaryContextSwitches: after } = process.resourceUsage();
          console.log(after - before.voluntaryContextSwitches);
          process.exit();
        }, 1000);
      }, 500);`;
    const { stdout } = await run(process.execPath, ["--input-type=module-typescript", "-e", program], { cwd: root });
    expect(Number(stdout), "times that it was woken in a second").to.be.below(50);
  });
});
