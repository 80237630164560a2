import { execFile } from "node:child_process";
import { createHash, generateKeyPairSync, verify } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { load, loadAll } from "js-yaml";
import { bundlesIn, readDockerfile, targets } from "../../hack/lib/image/dockerfile.ts";
import { locateTool } from "../../hack/lib/tools/locate.ts";
import { version } from "../../src/version.ts";
import { ReleaseFixture } from "../lib/cluster/release-fixture.ts";

const run = promisify(execFile);
const digest = `sha256:${"0a".repeat(32)}`;
const images = {
  controller: `registry.example.com/controller@${digest}`,
  agent: `registry.example.com/agent@${digest}`,
  "agent-minimal": `registry.example.com/small@${digest}`,
  base: `node:24.21.0-trixie-slim@${digest}`,
};
const named = Object.entries(images).flatMap(([which, reference]) => ["--image", `${which}=${reference}`]);
const baseURL = "https://downloads.example.com/v1";
const { privateKey, publicKey } = generateKeyPairSync("ed25519");

describe("a release", () => {
  const fixtures: ReleaseFixture[] = [];
  let helm = "";
  let out = "";
  before(async function () {
    this.timeout(20 * 60_000); // Helm may have to be built, once
    const tools = { env: process.env, report: (line: string) => console.log(`  ${line}`) };
    const kubectl = await locateTool("kubectl", tools);
    helm = await locateTool("helm", tools);
    for (const env of [{ TZ: "UTC" }, { TZ: "Asia/Tokyo", LC_ALL: "C", HOME: "/nowhere" }]) {
      const fixture = new ReleaseFixture(version);
      fixtures.push(fixture);
      const key = join(fixture.directory, ".git/key.pem");
      writeFileSync(key, privateKey.export({ type: "pkcs8", format: "pem" }));
      const args = [...named, "--base-url", baseURL, "--sign-key", key, "--kubectl", kubectl, "--tag"];
      await fixture.release([version, "--out", outOf(fixture), ...args], env);
    }
    out = outOf(first());
  });
  after(() => {
    for (const { directory } of fixtures) rmSync(directory, { recursive: true });
  });
  const outOf = ({ directory }: ReleaseFixture) => join(directory, "dist/release");
  const first = () => fixtures[0] ?? expect.fail("there is no release");
  const file = (name: string) => readFileSync(join(out, name));

  it("is the same to the last byte in two checkouts of one commit", () => {
    const contents = fixtures.map((fixture) => {
      const names = readdirSync(outOf(fixture)).sort();
      return Object.fromEntries(names.map((name) => [name, hash(readFileSync(join(outOf(fixture), name)))]));
    });
    expect(Object.keys(contents[0] ?? {})).to.deep.equal([
      "RELEASE-NOTES.md",
      "checksums.txt",
      "checksums.txt.sig",
      `crd-schemas-${version}.tar.gz`,
      "images.txt",
      "install.yaml",
      `kubectl-nvi-${version}.tar.gz`,
      `node-volume-operator-${version}.tgz`,
      "nvi.yaml",
      "sbom-agent-minimal.spdx.json",
      "sbom-agent.spdx.json",
      "sbom-controller.spdx.json",
      "sbom-kubectl-nvi.spdx.json",
      "why.html",
    ]);
    expect(contents[1]).to.deep.equal(contents[0]);
  });

  it("has checksums of all of it, signed", async () => {
    const { stdout } = await run("sha256sum", ["--check", "--strict", "checksums.txt"], { cwd: out });
    expect(stdout.trim().split("\n")).to.have.length(readdirSync(out).length - 2);
    expect(verify(null, file("checksums.txt"), publicKey, file("checksums.txt.sig"))).to.equal(true);
    // As docs/release.md has it.
    writeFileSync(join(out, "../release.pub"), publicKey.export({ type: "spki", format: "pem" }));
    const key = ["-verify", "-pubin", "-inkey", "../release.pub", "-rawin"];
    const files = ["-in", "checksums.txt", "-sigfile", "checksums.txt.sig"];
    expect((await run("openssl", ["pkeyutl", ...key, ...files], { cwd: out })).stdout).to.include("Verified Success");
  });

  it("has a chart that Helm takes, and an install.yaml, of the images that were named", async () => {
    const chart = join(out, `node-volume-operator-${version}.tgz`);
    const args = ["template", "release", chart, "--include-crds", "--kube-version=1.36.3"];
    const { stdout } = await run(helm, args, { maxBuffer: 2 ** 26 });
    const installed = file("install.yaml").toString();
    expect(loadAll(stdout).filter((object) => object !== null)).to.have.length(loadAll(installed).length);
    for (const text of [stdout, installed])
      expect([images.controller, images.agent].map((image) => text.split(image).length > 1)).to.deep.equal([
        true,
        true,
      ]);
    for (const text of [stdout, installed])
      expect(text.match(/^ *image: "?[a-z]/gm), "controller, agent, and the proxy of the agent").to.have.length(3);
    expect(stdout).not.to.match(/image: "?node-volume-operator/);
  });

  it("says which images it is of, and from what they were built", () => {
    const lines = Object.entries(images).map(([which, reference]) => `${which} ${reference}`);
    expect(file("images.txt").toString().trim().split("\n")).to.have.members(lines);
  });

  it("has a plugin that runs, and a manifest that names its archive", async () => {
    const place = join(out, "../plugin");
    mkdirSync(place);
    await run("tar", ["-xzf", join(out, `kubectl-nvi-${version}.tar.gz`), "-C", place]);
    expect(readdirSync(place).sort()).to.deep.equal(["LICENSE", "kubectl-nvi"]);
    expect((await run(join(place, "kubectl-nvi"), ["--help"])).stdout).to.include("explain");
    const commit = first().git("rev-parse", "HEAD").trim();
    const own = (await run(join(place, "kubectl-nvi"), ["version"])).stdout;
    expect(own).to.equal(`kubectl-nvi ${version} (${commit})\n`);
    const manifest = load(file("nvi.yaml").toString()) as { spec: { platforms: [{ uri: string; sha256: string }] } };
    const [{ uri, sha256 }] = manifest.spec.platforms;
    expect(uri).to.equal(`${baseURL}/kubectl-nvi-${version}.tar.gz`);
    expect(sha256).to.equal(hash(file(`kubectl-nvi-${version}.tar.gz`)));
  });

  const sbom = (of: string) => {
    const { packages, relationships } = JSON.parse(file(`sbom-${of}.spdx.json`).toString()) as Sbom;
    const known = new Set([...packages.map(({ SPDXID }) => SPDXID), "SPDXRef-DOCUMENT"]);
    for (const { spdxElementId, relatedSpdxElement } of relationships)
      expect([known.has(spdxElementId), known.has(relatedSpdxElement)]).to.deep.equal([true, true]);
    expect(known.size).to.equal(packages.length + 1);
    const held = relationships.filter(({ relationshipType }) => relationshipType === "CONTAINS");
    expect(held).to.have.length(packages.length - 1);
    const named = (start: string) =>
      packages.flatMap(({ SPDXID, name }) => (SPDXID.startsWith(`SPDXRef-${start}`) ? [name] : []));
    return { npm: named("npm-"), debian: named("Debian-"), base: named("base-image"), node: named("runtime-") };
  };

  it("says in the SBOM of each image which packages are in its bundles, no more and no fewer", () => {
    const dockerfile = readDockerfile();
    for (const target of targets) {
      // The source maps tell it, too, each package by a file of its own that has a statement in the bundle.
      const maps = bundlesIn(dockerfile, target).map((name) => join(first().directory, `dist/${name}.cjs.map`));
      const sources = maps.flatMap((map) => (JSON.parse(readFileSync(map, "utf8")) as { sources: string[] }).sources);
      const shown = sources.flatMap((source) => /.*node_modules\/((?:@[^/]+\/)?\w[^/]*)\//.exec(source)?.[1] ?? []);
      const beside = target === "controller" ? [] : ["koffi", "@koromix/koffi-linux-arm64", "@koromix/koffi-linux-x64"];
      const { npm } = sbom(target);
      expect([...new Set(npm)].sort(), target).to.deep.equal([...new Set([...shown, ...beside])].sort());
      expect(npm, target).to.include("winston").and.not.include("mocha");
    }
  });

  it("lists no programs of Debian in the controller's SBOM, and in the small agent's not those that it lacks", () => {
    const libraries = ["ca-certificates", "libc6", "libgcc-s1", "libstdc++6"];
    expect(sbom("controller")).to.deep.include({ debian: libraries, base: [], node: ["node"] });
    const [agent, minimal] = [sbom("agent"), sbom("agent-minimal")];
    for (const { base, node } of [agent, minimal]) expect([base, node]).to.deep.equal([["node"], ["node"]]);
    expect(minimal.debian).to.include.members(["nfs-common", "git"]);
    expect(agent.debian.filter((name) => !minimal.debian.includes(name))).to.deep.equal([
      ...["ceph-fuse", "cifs-utils", "glusterfs-client", "rbd-nbd"],
    ]);
    expect(sbom("kubectl-nvi")).to.deep.include({ debian: [], base: [], node: [] });
  });

  it("tags the commit here, if it was asked for, with what has changed", () => {
    expect(first().git("cat-file", "-t", `v${version}`).trim()).to.equal("tag");
    expect(first().git("tag", "--list", "--format=%(contents)", `v${version}`)).to.include("### Added");
  });

  const refusal = (args: readonly string[]) =>
    first()
      .release(args)
      .then(
        () => "",
        (error: { stderr: string }) => error.stderr,
      );

  it("is refused of another version than the sources say, and of one that the changelog does not have", async () => {
    const words = await refusal(["9.9.9", "--out", join(out, "../other")]);
    for (const part of [
      "package.json says",
      "src/version.ts says",
      "Dockerfile says",
      "config/default",
      "has no section 9.9.9",
    ])
      expect(words).to.include(part);
    expect(await refusal(["next", "--out", join(out, "../other")])).to.include("is no version");
  });

  it("is signed for images by their digests alone, and for a base by its own", async () => {
    const args = [version, "--out", join(out, "../other"), "--image", `controller=${images.controller}`];
    const words = await refusal([...args, "--image", `agent=${images.agent}`, "--sign-key", "key.pem"]);
    expect(words).to.include("--sign-key: name each image by its digest").and.include("also agent-minimal, base:");
  });

  it("is refused of what is not committed, into a folder with something in it, and with a key of another kind", async () => {
    expect(await refusal([version, "--out", out])).to.include("is not empty");
    writeFileSync(join(first().directory, "src/left-over.ts"), "");
    expect(await refusal([version, "--out", join(out, "../other")])).to.include("not committed: ?? src/left-over.ts");
    rmSync(join(first().directory, "src/left-over.ts"));
  });
});

interface Sbom {
  readonly packages: readonly { readonly SPDXID: string; readonly name: string }[];
  readonly relationships: readonly {
    readonly spdxElementId: string;
    readonly relationshipType: string;
    readonly relatedSpdxElement: string;
  }[];
}

function hash(content: Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}
