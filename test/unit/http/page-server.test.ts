import * as http from "node:http";
import { gunzipSync } from "node:zlib";
import { expect } from "chai";
import { type Cluster, volumes, wellCluster } from "../../../hack/lib/page/cluster.ts";
import { rawIntent, waitingStatus } from "../../../hack/lib/page/objects.ts";
import { type Served, servePage } from "../../../hack/lib/page/serve.ts";
import { silent } from "../../../hack/lib/silent-log.ts";
import { createPage } from "../../../src/controller/page/page.ts";
import { realSystem } from "../../../src/system.ts";

interface Got {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: Buffer;
}

describe("startPageServer", () => {
  let cluster: Cluster;
  let served: Served;

  beforeEach(async () => {
    cluster = wellCluster(realSystem(silent), 40);
    served = await servePage(cluster);
  });
  afterEach(() => served.stop());

  function ask(path: string, headers: http.OutgoingHttpHeaders = {}, method = "GET"): Promise<Got> {
    return new Promise((resolve, reject) => {
      const request = http.request(
        { host: "127.0.0.1", port: served.port, path, headers, method },
        async (response) => {
          const parts: Buffer[] = [];
          for await (const part of response) parts.push(part as Buffer);
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(parts) });
        },
      );
      request.on("error", reject).end();
    });
  }

  it("serves the page, its parts and nothing else, and each may load nothing from elsewhere", async () => {
    const page = await ask("/");
    expect([page.status, page.headers["content-type"]]).to.deep.equal([200, "text/html; charset=utf-8"]);
    const text = page.body.toString();
    const parts = [...text.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path = ""]) => path);
    expect(parts).to.include.members(["/page.js", "/page.css", "/icon.svg"]);
    for (const path of [...parts, "/labels.js", "/why.json"]) expect((await ask(path)).status, path).to.equal(200);
    expect(text).not.to.match(/https?:|<script(?! type="module" src="\/)|style=|onclick=/);
    for (const path of [
      "/nothing",
      "/../package.json",
      "/src/page/page.js",
      "/why-page.js",
      "/why.html",
      "/api",
      "/api/nodes/../x",
      "/api/secrets/x",
    ])
      expect((await ask(path)).status, path).to.equal(404);
  });

  it("lets no other site show, read or script it, and nobody keep it", async () => {
    for (const path of ["/", "/page.js", "/api/overview", "/api/nodes/worker-1", "/nothing"]) {
      const { headers } = await ask(path);
      expect(headers["content-security-policy"], path).to.match(
        /^default-src 'none'; script-src 'self'; style-src 'self';/,
      );
      expect(headers["content-security-policy"], path)
        .to.match(/frame-ancestors 'none'$/)
        .and.not.to.include("unsafe");
      expect(headers, path).to.include({ "x-content-type-options": "nosniff", "cache-control": "no-store" });
      expect(headers, path).to.include({ "cross-origin-resource-policy": "same-origin" });
      expect(
        Object.keys(headers).filter((name) => name.startsWith("access-control")),
        path,
      ).to.deep.equal([]);
    }
  });

  it("answers to the names of this machine alone", async () => {
    for (const host of ["localhost:9809", "127.0.0.1", "[::1]:80", "LOCALHOST"])
      expect((await ask("/api/overview", { host })).status, host).to.equal(200);
    for (const host of [
      "evil.example",
      "localhost.evil.example:9809",
      "127.0.0.1.evil.example",
      "10.0.0.7:9809",
      "::1",
      "localhost:9809@evil",
    ])
      expect((await ask("/api/overview", { host })).status, host).to.equal(421);
  });

  it("refuses what a browser says another site has asked for, but for a link to it", async () => {
    expect(
      (await ask("/api/overview", { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" })).status,
    ).to.equal(403);
    expect((await ask("/api/changes", { "sec-fetch-site": "same-site", "sec-fetch-mode": "cors" })).status).to.equal(
      403,
    );
    expect((await ask("/api/overview", { "sec-fetch-site": "same-origin" })).status).to.equal(200);
    const navigating = (site: string) => ({ "sec-fetch-site": site, "sec-fetch-mode": "navigate" });
    expect((await ask("/", navigating("cross-site"))).status).to.equal(200);
    // A link, or a window that a script of another site opens again and again.
    for (const path of ["/api/overview", "/api/find?words=worker", "/api/nodes/worker-1", "/api/changes"])
      for (const site of ["cross-site", "same-site"])
        expect((await ask(path, navigating(site))).status, path).to.equal(403);
    expect(cluster.view.reads).to.deep.equal([]);
    expect((await ask("/api/nodes/worker-1", navigating("none"))).status).to.equal(200);
  });

  it("has no verb that could change anything", async () => {
    for (const method of ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"])
      for (const path of ["/", "/api/overview", "/api/volumes/worker-1.scratch-9a8fb0fbcd"])
        expect((await ask(path, {}, method)).status, `${method} ${path}`).to.equal(405);
    expect(cluster.view.reads).to.deep.equal([]);
    const head = await ask("/api/overview", {}, "HEAD");
    expect([head.status, head.body.length]).to.deep.equal([200, 0]);
    expect(Number(head.headers["content-length"])).to.be.greaterThan(100);
  });

  it("sends the overview once for each state of the cluster, packed if one likes", async () => {
    const first = await ask("/api/overview", { "accept-encoding": "gzip, br" });
    expect(first.headers["content-encoding"]).to.equal("gzip");
    const tag = first.headers.etag ?? "";
    expect(JSON.parse(gunzipSync(first.body).toString()).totals.volumes).to.equal(240);
    const again = await ask("/api/overview", { "if-none-match": tag });
    expect([again.status, again.body.length]).to.deep.equal([304, 0]);
    const plain = await ask("/api/overview");
    expect([plain.headers["content-encoding"], plain.headers.etag]).to.deep.equal([undefined, tag]);
    expect(plain.body.equals(gunzipSync(first.body))).to.equal(true);
  });

  it("tells of a change, and then sends another overview", async function () {
    this.timeout(20_000);
    const tag = (await ask("/api/overview")).headers.etag ?? "";
    const events = await fetch(`${served.url}api/changes`);
    expect(events.headers.get("content-type")).to.match(/^text\/event-stream/);
    const [volume] = volumes;
    const now = Date.now();
    if (volume)
      cluster.view.put(
        "nodevolumeintents",
        rawIntent("worker-2", volume, now, waitingStatus(now, 5, "ForeignMount", "x")),
      );
    let text = "";
    for await (const part of events.body ?? []) {
      text += Buffer.from(part).toString();
      if (/data: \w+/.test(text)) break;
    }
    const [, next = ""] = /data: (\w+)/.exec(text) ?? [];
    expect(`"${next}"`).not.to.equal(tag);
    const after = await ask("/api/overview", { "if-none-match": tag });
    expect([after.status, after.headers.etag]).to.deep.equal([200, `"${next}"`]);
    expect(JSON.parse(after.body.toString()).totals.blocked).to.equal(1);
  });

  it("lets so many follow, says so to the next, and forgets who has gone", async function () {
    this.timeout(20_000);
    const gone = new AbortController();
    const open = await Promise.all(
      Array.from({ length: 32 }, () => fetch(`${served.url}api/changes`, { signal: gone.signal })),
    );
    expect(open.every(({ status }) => status === 200)).to.equal(true);
    expect((await ask("/api/changes")).status).to.equal(503);
    expect((await ask("/api/overview")).status).to.equal(200);
    gone.abort();
    for (;;) {
      const cancel = served.page.follow(() => undefined);
      if (cancel !== undefined) return cancel();
      await new Promise((resolve) => setImmediate(resolve));
    }
  });

  it("finds volumes by words and by names, and says what a search has to be", async () => {
    const all = await ask("/api/find?words=worker-7+scratch");
    expect(JSON.parse(all.body.toString())).to.deep.include({ omitted: 0 });
    expect(JSON.parse(all.body.toString()).volumes).to.have.length(1);
    const named = await ask("/api/find?names=the+worker-7+scratch");
    expect(JSON.parse(named.body.toString()).volumes[0]).to.include({ node: "worker-7", volume: "scratch" });
    for (const path of ["/api/find", "/api/find?words=", "/api/find?q=x"])
      expect((await ask(path)).status).to.equal(400);
    expect(cluster.view.reads).to.deep.equal([]);
  });

  it("makes so many searches at once, and refuses the next", async () => {
    const yielder = { over: () => true, next: () => new Promise<void>((resolve) => setImmediate(resolve)) };
    const page = createPage({ system: { ...cluster.system, yielder }, view: cluster.view, version: "0" });
    const open = Array.from({ length: 4 }, () => page.find({ words: ["scratch"] }));
    expect(await page.find({ words: ["scratch"] })).to.equal(undefined);
    for (const found of await Promise.all(open)) expect(found?.volumes).to.have.length(40);
    expect((await page.find({ words: ["scratch"] }))?.volumes).to.have.length(40);
    page.stop();
  });

  it("finds a volume and a node by name, and says so of what is not there", async () => {
    const volume = await ask("/api/volumes/worker-1.scratch-9a8fb0fbcd");
    expect(JSON.parse(volume.body.toString())).to.include({ volume: "scratch", node: "worker-1", standing: "ready" });
    const node = await ask("/api/nodes/worker-1");
    expect(JSON.parse(node.body.toString()).volumes).to.have.length(6);
    expect((await ask("/api/volumes/worker-1.nothing")).status).to.equal(404);
    expect((await ask("/api/nodes/worker-999")).status).to.equal(404);
    expect(cluster.view.reads).to.have.length(2); // nothing is read of what the caches do not know
  });
});
