import * as http from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { Registry } from "prom-client";
import { metricsBeside } from "../../../src/api-proxy/beside.ts";
import { ProxyMetrics } from "../../../src/api-proxy/metrics.ts";
import { collectProcessMetrics } from "../../../src/http/role-metrics.ts";

describe("metricsBeside", () => {
  let answer: http.RequestListener = () => {};
  const server = http.createServer((request, response) => answer(request, response));
  before(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)));
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  function beside() {
    const registry = new Registry();
    new ProxyMetrics(registry, () => ({ requests: 1, watches: 2 })).refused("rule");
    const { port } = server.address() as AddressInfo;
    return { registry, both: metricsBeside(registry, { host: "127.0.0.1", port }) };
  }
  const messageOf = (asked: Promise<string>) => asked.catch((error: Error) => error.message);

  it("is the agent's figures and its own, none of them twice", async () => {
    const ofAgent = new Registry();
    collectProcessMetrics(ofAgent);
    const text = await ofAgent.metrics();
    answer = (_, response) => void response.end(text);
    const both = await beside().both.metrics();
    expect(both.startsWith(text.trimEnd())).to.equal(true);
    expect(both).to.match(/\nnodevolume_api_proxy_refused_total\{kind="rule"\} 1\n/);
    const types = [...both.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name);
    expect(types).to.have.length(new Set(types).size);
  });

  it("fails as a whole if the agent does not answer, or with anything but its figures", async () => {
    answer = (_, response) => void response.writeHead(500).end("no");
    expect(await messageOf(beside().both.metrics())).to.equal("the agent's metrics cannot be read: status 500");
    answer = (_, response) => response.destroy();
    expect(await messageOf(beside().both.metrics())).to.match(/^the agent's metrics cannot be read: /);
    answer = (_, response) =>
      void response.writeHead(200, { "content-length": "100" }).write("half", () => response.destroy());
    expect(await messageOf(beside().both.metrics())).to.match(/^the agent's metrics cannot be read: /);
  });

  it("asks the agent once, however many ask at a time, and anew after that", async () => {
    let asked = 0;
    answer = (_, response) => {
      asked += 1;
      response.end("agent 1\n");
    };
    const { both } = beside();
    const texts = await Promise.all(Array.from({ length: 20 }, () => both.metrics()));
    expect(texts.every((text) => text.startsWith("agent 1\n"))).to.equal(true);
    expect(asked).to.equal(1);
    await both.metrics();
    expect(asked).to.equal(2);
  });

  it("is its own alone where there is no agent to ask", () => {
    const { registry } = beside();
    expect(metricsBeside(registry, undefined)).to.equal(registry);
  });
});
