import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { gzipSync } from "node:zlib";
import { expect } from "chai";
import fc from "fast-check";
import { skipBecause } from "../../hack/lib/lanes/skip-reason.ts";
import { slow } from "../../hack/lib/lanes/slow.ts";
import { locateUnpacked } from "../../hack/lib/tools/unpacked.ts";
import { need } from "../lib/asserts/requirements.ts";
import { filesIn, likeTheirs, unpackLayers } from "../lib/kernel/unpacked-trees.ts";
import { paxOf, type RawTarEntry, tarOf } from "../lib/servers/contract-registry.ts";

const layerType = "application/vnd.oci.image.layer.v1.tar+gzip";

const name = fc.constantFrom("a", "b", "c", "é", "n".repeat(90));
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join("/"));
const above = fc.constantFrom("", "../", "/", "../../", "./");
const entry: fc.Arbitrary<readonly RawTarEntry[]> = fc
  .record({
    path,
    type: fc.constantFrom("0", "0", "5", "5", "5", "2", "2", "1", "whiteout", "opaque"),
    target: fc.tuple(above, path).map(([up, of]) => `${up}${of}`),
    linked: path,
    mode: fc.constantFrom(0o755, 0o700, 0o4755, 0o640, 0o1777),
    uid: fc.constantFrom(0, 1000, 2_000_000),
    content: fc.string({ maxLength: 20 }),
    time: fc.constantFrom(undefined, "-12.25", "1000000000.123456789"),
  })
  .map(({ path: of, type, target, linked, mode, uid, content, time }) => {
    if (type === "whiteout") return [paxOf({ path: of.replace(/([^/]*)$/, ".wh.$1") }), { name: "short" }];
    if (type === "opaque") return [paxOf({ path: `${of}/.wh..wh..opq` }), { name: "short" }];
    const records = { path: of, ...(type === "2" && { linkpath: target }), ...(type === "1" && { linkpath: linked }) };
    const header = paxOf({ ...records, ...(time !== undefined && { mtime: time }) });
    return [header, { name: "short", type, mode, uid, ...(type === "0" && { content }) }];
  });
const layers = fc.array(fc.array(entry, { minLength: 1, maxLength: 10 }), { minLength: 1, maxLength: 4 });

/** Held against what umoci, which stands for Go's archive/tar and the image specification, makes of the same layers. */
describe("LayerWriter, of random images that umoci unpacks, too", function () {
  this.timeout(60_000); // on machines that have others at work
  let umoci: string;
  let place: string;

  before(async function () {
    need(this, "root");
    const options = { env: process.env, report: (line: string) => console.log(line) };
    const unpacked = await locateUnpacked({ name: "umoci", packages: ["umoci"], has: "usr/bin/umoci" }, options);
    if (typeof unpacked !== "string") skipBecause(this, unpacked.missing);
    umoci = `${unpacked}/usr/bin/umoci`;
  });
  beforeEach(() => {
    place = mkdtempSync(`${tmpdir()}/umoci-`);
  });
  afterEach(() => rmSync(place, { recursive: true }));

  slow("shows the same files, with owners, modes, times, links and content", async () => {
    let same = 0;
    let refused = 0;
    const property = fc.asyncProperty(layers, async (drawn) => {
      rmSync(`${place}/image`, { recursive: true, force: true });
      const archives = drawn.map((entries) => gzipSync(tarOf(...entries.flat())));
      const theirs = unpackByUmoci(archives);
      const ours = await unpack(archives);
      if (theirs === undefined) refused++;
      else {
        expect(ours.map((line, at) => likeTheirs(line, theirs[at])).join("\n")).to.equal(theirs.join("\n"));
        same++;
      }
    });
    await fc.assert(property, { numRuns: 300, includeErrorInReport: true, interruptAfterTimeLimit: 150_000 });
    console.log(`${same} images were the same, ${refused} umoci does not unpack`);
    expect(same).to.be.greaterThan(20);
  });

  const blob = (bytes: Buffer, mediaType: string) => {
    const hex = createHash("sha256").update(bytes).digest("hex");
    writeFileSync(`${place}/image/layout/blobs/sha256/${hex}`, bytes);
    return { mediaType, digest: `sha256:${hex}`, size: bytes.length };
  };
  const json = (value: object, mediaType: string) => blob(Buffer.from(JSON.stringify(value)), mediaType);

  /** @returns undefined if it does not take these layers */
  function unpackByUmoci(archives: readonly Buffer[]): readonly string[] | undefined {
    const at = `${place}/image`;
    mkdirSync(`${at}/layout/blobs/sha256`, { recursive: true });
    const layout = archives.map((bytes) => blob(bytes, layerType));
    const diffs = archives.map((bytes) => createHash("sha256").update(execFileSync("gzip", ["-dc"], { input: bytes })));
    const config = json(
      {
        ...{ architecture: "amd64", os: "linux", config: {} },
        rootfs: { type: "layers", diff_ids: diffs.map((hash) => `sha256:${hash.digest("hex")}`) },
      },
      "application/vnd.oci.image.config.v1+json",
    );
    const manifest = json({ schemaVersion: 2, config, layers: layout }, "application/vnd.oci.image.manifest.v1+json");
    const annotations = { "org.opencontainers.image.ref.name": "v1" };
    writeFileSync(`${at}/layout/oci-layout`, '{"imageLayoutVersion":"1.0.0"}');
    writeFileSync(
      `${at}/layout/index.json`,
      JSON.stringify({ schemaVersion: 2, manifests: [{ ...manifest, annotations }] }),
    );
    const { status } = spawnSync(umoci, ["raw", "unpack", "--image", `${at}/layout:v1`, `${at}/theirs`], {
      stdio: "pipe",
    });
    return status === 0 ? filesIn(`${at}/theirs`) : undefined;
  }

  async function unpack(archives: readonly Buffer[]): Promise<readonly string[]> {
    const at = `${place}/image/ours`;
    try {
      await unpackLayers(at, archives);
    } catch (error) {
      return [JSON.stringify([String(error)])];
    }
    return filesIn(at);
  }
});
