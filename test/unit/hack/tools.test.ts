import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect } from "chai";
import { tryLock } from "../../../hack/lib/syscalls.ts";
import { buildTool } from "../../../hack/lib/tools/build.ts";
import { csiTools, gitopsTools, manifestTools, nodeTools, releaseTools } from "../../../hack/lib/tools/catalog.ts";
import { locateNodeTools, locateTools } from "../../../hack/lib/tools/locate.ts";
import { fetchRelease } from "../../../hack/lib/tools/release.ts";
import { cacheDirectory, describeTool } from "../../../hack/lib/tools/tool.ts";
import { locateXfsprogs } from "../../../hack/lib/tools/xfsprogs.ts";

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

  it("of CSI are pinned in the versions that work with each other, and are told theirs", () => {
    const versions = csiTools.map((name) => `${name} ${describeTool(name, "/c").version}`);
    expect(versions).to.deep.equal([
      "csi-sanity v5.6.0",
      "hostpathplugin v1.7.2",
      "mock-driver v3.1.1",
      "csi-provisioner v6.3.0",
      "csi-attacher v4.13.0",
      `kube-controller-manager ${describeTool("kube-apiserver", "/c").version}`,
      "csi-resizer v2.3.0",
    ]);
    expect(describeTool("hostpathplugin", "/c").ldflags).to.include("-X main.version=v1.7.2");
    expect(describeTool("kwok", "/c").version).to.equal("v0.8.0");
    expect(describeTool("toxiproxy-server", "/c").version).to.equal("v2.5.0");
    expect(manifestTools.map((name) => `${name} ${describeTool(name, "/c").version}`)).to.deep.equal([
      "helm v3.22.0",
      "kube-score v1.20.0",
    ]);
    expect(gitopsTools.map((name) => `${name} ${describeTool(name, "/c").version}`)).to.deep.equal(["gitops own"]);
  });

  it("of a release are pinned, and its oldest API server is another one than that of the tests", () => {
    expect(releaseTools.map((name) => `${name} ${describeTool(name, "/c").version}`)).to.deep.equal([
      "kube-apiserver-1.32 v1.32.13",
      "kubeconform v0.8.0",
      "actionlint v1.7.12",
    ]);
    const { ldflags } = describeTool("kube-apiserver-1.32", "/c");
    expect(ldflags).to.include("version.gitMinor=32").and.include("version.gitVersion=v1.32.13");
  });

  it("of a real node are pinned, too, and those of our own have no version", () => {
    const versions = nodeTools.map((name) => `${name} ${describeTool(name, "/c").version}`);
    const kubernetes = describeTool("kube-apiserver", "/c").version;
    expect(versions).to.deep.equal([
      `kubelet ${kubernetes}`,
      `kube-scheduler ${kubernetes}`,
      "containerd v2.3.7",
      "containerd-shim-runc-v2 v2.3.7",
      "ctr v2.3.7",
      "runc v1.4.3",
      "runc-without-seccomp own",
      "pod-program own",
    ]);
  });

  it("of a real node are not built where C cannot be", async () => {
    const found = await locateNodeTools({ env: { PATH: directory, XDG_CACHE_HOME: directory }, report });
    expect(found).to.deep.equal({ missing: "needs a C compiler, to build runc" });
    expect(lines).to.deep.equal([]);
  });

  it("of kubernetes-csi, and of containers, are built at once: there is no release of programs that is of use", async () => {
    const nowhere = { kubernetes: "http://127.0.0.1:1", etcd: "http://127.0.0.1:1" };
    const options = { out: directory, report, sites: nowhere };
    for (const name of ["csi-attacher", "containerd", "runc", "pod-program"] as const)
      expect(await fetchRelease(describeTool(name, directory), options)).to.equal(false);
    expect(lines).to.deep.equal([]);
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

    it("are fetched by the name of their program, also one that we call by another", async () => {
      const { version } = describeTool("kube-apiserver-1.32", directory);
      const path = `/${version}/bin/linux/${process.arch === "arm64" ? "arm64" : "amd64"}/kube-apiserver`;
      published.set(path, "old").set(`${path}.sha256`, sha256("old"));
      const options = { out: directory, report, sites: sites() };
      expect(await fetchRelease(describeTool("kube-apiserver-1.32", directory), options)).to.equal(true);
      expect(readFileSync(join(directory, "kube-apiserver-1.32"), "utf8")).to.equal("old");
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

  describe("xfsprogs", () => {
    const program = (path: string, script: string) => {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    };

    it("are taken from PATH, if both programs are there", async () => {
      for (const name of ["mkfs.xfs", "xfs_growfs"]) program(join(directory, name), "");
      const found = await locateXfsprogs({ env: { PATH: directory, XDG_CACHE_HOME: join(directory, "none") }, report });
      expect(found).to.deep.equal({ mkfs: join(directory, "mkfs.xfs"), growfs: join(directory, "xfs_growfs") });
    });

    it("come out of the package where apt is there, with their libraries, and land in the cache whole", async () => {
      program(join(directory, "apt-get"), "touch a.deb");
      const unpack =
        'mkdir -p "$3/sbin" "$3/lib/x-linux-gnu"; for p in mkfs.xfs xfs_growfs; do echo "#!/bin/sh" >"$3/sbin/$p"; chmod +x "$3/sbin/$p"; done';
      program(join(directory, "dpkg-deb"), unpack);
      const env = { PATH: `${directory}:/usr/bin:/bin`, XDG_CACHE_HOME: join(directory, "cache") };
      const found = await locateXfsprogs({ env, report });
      const cached = join(cacheDirectory(env), `xfsprogs-${process.arch}`);
      expect(found).to.deep.equal({
        mkfs: join(cached, "sbin/mkfs.xfs"),
        growfs: join(cached, "sbin/xfs_growfs"),
        libraries: join(cached, "lib/x-linux-gnu"),
      });
    });

    it("are missing, by name, where neither is there", async () => {
      const found = await locateXfsprogs({ env: { PATH: directory, XDG_CACHE_HOME: directory }, report });
      expect(found)
        .to.have.property("missing")
        .that.matches(/^needs mkfs\.xfs: .*apt-get/);
    });
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
