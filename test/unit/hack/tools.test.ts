import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { tryLock } from "../../../hack/lib/syscalls.ts";
import { buildTool } from "../../../hack/lib/tools/build.ts";
import { locateTools } from "../../../hack/lib/tools/locate.ts";
import { fetchRelease } from "../../../hack/lib/tools/release.ts";
import { cacheDirectory, describeTool } from "../../../hack/lib/tools/tool.ts";

const names = ["etcd", "kube-apiserver", "kubectl"] as const;

describe("tools", () => {
  let directory: string;
  let lines: string[];
  const report = (line: string) => void lines.push(line);

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "nodevolume-tools-"));
    lines = [];
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  it("are pinned by go.mod, and their place in the cache says so", () => {
    expect(describeTool("etcd", "/c").cached).to.match(/^\/c\/etcd-v3\.6\.\d+-[0-9a-f]{12}$/);
    expect(describeTool("kubectl", "/c").version).to.equal(describeTool("kube-apiserver", "/c").version);
  });

  it("cacheDirectory follows XDG_CACHE_HOME, and takes an empty one for none", () => {
    expect(cacheDirectory({ XDG_CACHE_HOME: "/x" })).to.equal("/x/node-volume-operator");
    expect(cacheDirectory({ XDG_CACHE_HOME: "" })).to.match(/\/\.cache\/node-volume-operator$/);
  });

  it("locateTools takes KUBEBUILDER_ASSETS first and touches nothing else", async () => {
    for (const name of names) writeFileSync(join(directory, name), "", { mode: 0o755 });
    const cache = join(directory, "cache");
    const tools = await locateTools({ env: { KUBEBUILDER_ASSETS: directory, XDG_CACHE_HOME: cache }, report });
    expect(tools.etcd).to.equal(join(directory, "etcd"));
    expect(existsSync(cache)).to.equal(false);
  });

  it("locateTools takes what the cache has", async () => {
    const env = { XDG_CACHE_HOME: directory };
    for (const name of names) {
      const { cached } = describeTool(name, cacheDirectory(env));
      mkdirSync(cached, { recursive: true });
      writeFileSync(join(cached, name), "", { mode: 0o755 });
    }
    expect((await locateTools({ env, report })).kubectl).to.match(/\/kubectl$/);
    expect(lines).to.deep.equal([]);
  });

  describe("from a release", () => {
    let server: Server;
    let published: Map<string, string>;
    let site: string;

    beforeEach((done) => {
      published = new Map();
      server = createServer((request, response) => {
        const body = published.get(request.url ?? "");
        response.writeHead(body === undefined ? 404 : 200).end(body);
      }).listen(0, "127.0.0.1", () => {
        site = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
        done();
      });
    });
    afterEach((done) => {
      server.closeAllConnections();
      server.close(done);
    });

    const publish = (name: "kubectl" | "kube-apiserver", content: string, sum = sha256(content)) => {
      const { version } = describeTool(name, directory);
      const path = `/${version}/bin/linux/${process.arch === "arm64" ? "arm64" : "amd64"}/${name}`;
      published.set(path, content).set(`${path}.sha256`, sum);
    };
    const sites = () => ({ kubernetes: site, etcd: site });

    it("are taken if the checksum is the published one, and land in the cache whole", async () => {
      publish("kubectl", "#!/bin/sh\n");
      publish("kube-apiserver", "#!/bin/sh\n");
      const env = { XDG_CACHE_HOME: directory };
      const cache = cacheDirectory(env);
      const { cached } = describeTool("etcd", cache);
      mkdirSync(cached, { recursive: true });
      writeFileSync(join(cached, "etcd"), "", { mode: 0o755 });
      mkdirSync(join(cache, "tmp-1-of-a-killed-build/out"), { recursive: true });
      const tools = await locateTools({ env, report, sites: sites() });
      expect(readFileSync(tools.kubectl, "utf8")).to.equal("#!/bin/sh\n");
      expect(readdirSync(cache).filter((name) => name.startsWith("tmp-"))).to.deep.equal([]);
    });

    it("are refused with one line if the checksum differs", async () => {
      publish("kubectl", "#!/bin/sh\n", sha256("something else"));
      const fetched = await fetchRelease(describeTool("kubectl", directory), {
        out: directory,
        report,
        sites: sites(),
      });
      expect(fetched).to.equal(false);
      expect(lines.at(-1)).to.include("the checksum of").and.include("building it instead");
      expect(readdirSync(directory)).to.deep.equal([]);
    });

    it("are passed over with one line where there is no network", async () => {
      const nowhere = { kubernetes: "http://127.0.0.1:1", etcd: "http://127.0.0.1:1" };
      const fetched = await fetchRelease(describeTool("etcd", directory), { out: directory, report, sites: nowhere });
      expect(fetched).to.equal(false);
      expect(lines).to.have.length(1);
      expect(lines[0]).to.include("no release to be had");
    });
  });

  it("buildTool names what is missing when there is no Go", async () => {
    const options = { out: directory, workshop: directory, env: { PATH: "/nowhere" }, report };
    const error = await buildTool(describeTool("kubectl", directory), options).catch((e: Error) => e.message);
    expect(error).to.match(/Go is not installed|ENOENT/);
  });

  it("tryLock is held by one, and free again when given back", () => {
    const path = join(directory, "lock");
    const unlock = tryLock(path);
    expect(unlock).not.to.equal(undefined);
    expect(tryLock(path)).to.equal(undefined);
    unlock?.();
    expect(tryLock(path)).not.to.equal(undefined);
  });
});

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
