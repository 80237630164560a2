import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { intent } from "../../hack/lib/agent-on-kernel/intent.ts";
import { skipBecause } from "../../hack/lib/lanes/skip-reason.ts";
import { slow } from "../../hack/lib/lanes/slow.ts";
import { locateUnpacked } from "../../hack/lib/tools/unpacked.ts";
import { asVolumeName } from "../../src/agent/model/identities.ts";
import { need } from "../lib/asserts/requirements.ts";
import { RealNode } from "../lib/kernel/real-node.ts";

describe("images, on the real kernel, from a layout that umoci has written", function () {
  this.timeout(60_000); // on machines that have others at work
  let node: RealNode;
  let umoci: string;
  let layout: string;
  let digest: string;

  before(async function () {
    need(this, "root");
    const options = { env: process.env, report: (line: string) => console.log(line) };
    const unpacked = await locateUnpacked({ name: "umoci", packages: ["umoci"], has: "usr/bin/umoci" }, options);
    if (typeof unpacked !== "string") skipBecause(this, unpacked.missing);
    umoci = `${unpacked}/usr/bin/umoci`;
  });
  beforeEach(() => {
    node = new RealNode();
    const bundle = `${node.path}/src/bundle`;
    layout = `${node.path}/src/layout`;
    const run = (...args: string[]) => execFileSync(umoci, args, { stdio: "pipe" });
    run("init", "--layout", layout);
    run("new", "--image", `${layout}:v1`);
    run("unpack", "--image", `${layout}:v1`, bundle);
    mkdirSync(`${bundle}/rootfs/srv`);
    writeFileSync(`${bundle}/rootfs/srv/model`, "weights", { mode: 0o640 });
    writeFileSync(`${bundle}/rootfs/srv/old`, "old");
    run("repack", "--refresh-bundle", "--image", `${layout}:v1`, bundle);
    rmSync(`${bundle}/rootfs/srv/old`);
    run("repack", "--image", `${layout}:v1`, bundle);
    const { manifests } = JSON.parse(readFileSync(`${layout}/index.json`, "utf8"));
    digest = manifests[0].digest;
  });
  afterEach(async () => {
    await node[Symbol.asyncDispose]();
  });

  const tried = async (more: object = {}, place: object = {}) => {
    node.forgetFailures();
    const source = { image: { layout: { path: layout, digest, ...place }, ...more } };
    node.want(intent({ source, mounts: [{ path: node.target("model") }] }));
    const { failure } = await node.volume(asVolumeName("node.volume-1"));
    return failure && `${failure.reason}: ${failure.message}`;
  };
  const blob = (name: string) => `${layout}/blobs/${name.replace(":", "/")}`;
  const firstLayer = () => JSON.parse(readFileSync(blob(digest), "utf8")).layers[0].digest as string;

  it("shows its layers, by a path with a link in it, and needs it no more", async () => {
    symlinkSync("layout", `${node.path}/src/link`);
    expect(await tried({}, { path: `${node.path}/src/link` })).to.equal(undefined);
    const shown = node.target("model");
    expect(readFileSync(`${shown}/srv/model`, "utf8")).to.equal("weights");
    expect(readdirSync(`${shown}/srv`)).to.deep.equal(["model"]);
    renameSync(layout, `${layout}-gone`);
    await node.restart();
    expect(await tried({}, { path: `${node.path}/src/link` })).to.equal(undefined);
    expect(readdirSync(`${shown}/srv`)).to.deep.equal(["model"]);
  });

  slow("says what is missing or wrong, shows nothing of it, and begins again", async () => {
    expect(await tried({}, { path: `${layout}-none` })).to.match(/^SourceNotFound: .*layout-none on the node .*ENOENT/);
    const zeros = `sha256:${"0".repeat(64)}`;
    expect(await tried({}, { digest: zeros })).to.match(/^RevisionNotFound: .* has no sha256:0000/);
    const layer = blob(firstLayer());
    const bytes = readFileSync(layer);
    writeFileSync(layer, Buffer.concat([bytes.subarray(0, -1), Buffer.from("x")]));
    expect(await tried()).to.match(/^ContentRefused: /);
    writeFileSync(layer, Buffer.concat([bytes, bytes]));
    expect(await tried()).to.match(/^ContentRefused: .* has [0-9]+ bytes, more than/);
    renameSync(layer, `${layer}-elsewhere`);
    expect(await tried()).to.match(/^RevisionNotFound: .* has no /);
    writeFileSync(`${layer}-elsewhere`, bytes);
    symlinkSync(`${layer}-elsewhere`, layer);
    expect(await tried(), "a blob by a link").to.match(/^ContentRefused: .* cannot be read: ELOOP/);
    mkdirSync(`${node.path}/src/other`);
    renameSync(layer, `${node.path}/src/other/link`);
    mkdirSync(layer);
    expect(await tried(), "a directory").to.match(/^ContentRefused: .* (is no file|EISDIR)/);
    renameSync(layer, `${node.path}/src/other/directory`);
    renameSync(`${layer}-elsewhere`, layer);
    node.forgetFailures();
    expect(await tried({ sizeLimit: "64Ki" })).to.equal(undefined);
  });
});
