import { expect } from "chai";
import { VolumeError } from "../../../../../src/errors.ts";
import { readManifest } from "../../../../../src/host/linux/image/manifest.ts";
import { parseReference } from "../../../../../src/host/linux/image/reference.ts";

const digest = (digit: string) => `sha256:${digit.repeat(64)}`;
const image = parseReference(`registry.example/team/model:v1@${digest("a")}`);
const tar = "application/vnd.oci.image.layer.v1.tar";

const result = (manifest: unknown, arch = "x64") => {
  try {
    return readManifest(Buffer.from(typeof manifest === "string" ? manifest : JSON.stringify(manifest)), arch, image);
  } catch (error) {
    return (error as { reason?: string }).reason ?? error;
  }
};

describe("parseReference", () => {
  it("says where an image is, by HTTP only on the node itself", () => {
    expect(image).to.deep.equal({
      registry: "registry.example",
      address: "https://registry.example",
      repository: "team/model",
      digest: digest("a"),
    });
    for (const [reference, address, repository] of [
      ["docker.io/busybox", "https://registry-1.docker.io", "library/busybox"],
      ["docker.io/team/app", "https://registry-1.docker.io", "team/app"],
      ["localhost:5000/a", "http://localhost:5000", "a"],
      ["127.0.0.1:5000/a/b", "http://127.0.0.1:5000", "a/b"],
      ["[::1]:5000/a", "http://[::1]:5000", "a"],
      ["127.example.com/a", "https://127.example.com", "a"],
      ["localhost.example/a", "https://localhost.example", "a"],
    ]) {
      expect(parseReference(`${reference}@${digest("b")}`), reference).to.include({ address, repository });
    }
  });
});

describe("parseReference of what is no address", () => {
  for (const host of ["registry.example:99999", "10.0.0.300", "127.0.0.0.0.1:5000", "[::::]"]) {
    it(`refuses ${host} for good, and names the field`, () => {
      const refused = { reason: "RepositoryRefused", errorClass: "final" };
      const parse = () => parseReference(`${host}/a@${digest("b")}`);
      expect(parse)
        .to.throw(VolumeError, /correct image.reference/)
        .that.includes(refused);
    });
  }
});

describe("readManifest", () => {
  it("takes layers of OCI and Docker, and what is for this machine of an index", () => {
    const layers = [
      { mediaType: `${tar}+gzip`, digest: digest("1"), size: 10 },
      { mediaType: `${tar}+zstd`, digest: digest("2"), size: 0 },
      { mediaType: "application/vnd.docker.image.rootfs.diff.tar.gzip", digest: digest("3"), size: 1 },
      { mediaType: tar, digest: digest("4"), size: 1 },
      { mediaType: "application/vnd.oci.image.layer.nondistributable.v1.tar+zstd", digest: digest("5"), size: 1 },
      { mediaType: "application/vnd.docker.image.rootfs.foreign.diff.tar.gzip", digest: digest("6"), size: 1 },
    ];
    expect(result({ layers })).to.deep.equal({ layers: layers.map(({ digest, size }) => ({ digest, size })) });
    const of = (architecture: string, digit: string, os = "linux") => ({
      digest: digest(digit),
      platform: { os, architecture },
    });
    const manifests = [of("amd64", "5", "windows"), of("arm64", "6"), of("amd64", "7"), of("unknown", "8", "unknown")];
    expect(result({ manifests })).to.deep.equal({ manifest: digest("7") });
    expect(result({ manifests }, "arm64")).to.deep.equal({ manifest: digest("6") });
    expect(result({ manifests }, "s390x")).to.equal("RevisionNotFound");
  });

  it("takes of an index what each processor of a kind is, before what only some are, and the only one that says nothing", () => {
    const of = (digit: string, platform?: object) => ({ digest: digest(digit), platform });
    const amd64 = { os: "linux", architecture: "amd64" };
    const [v4, v1, plain] = [
      of("4", { ...amd64, variant: "v4" }),
      of("1", { ...amd64, variant: "v1" }),
      of("0", amd64),
    ];
    const attestation = of("a", { os: "unknown", architecture: "unknown" });
    expect(result({ manifests: [v4, plain] })).to.deep.equal({ manifest: digest("0") });
    expect(result({ manifests: [v4, v1] })).to.deep.equal({ manifest: digest("1") });
    expect(result({ manifests: [attestation, v4] })).to.deep.equal({ manifest: digest("4") });
    const arm = { os: "linux", architecture: "arm64" };
    expect(
      result({ manifests: [of("9", { ...arm, variant: "v9" }), of("8", { ...arm, variant: "v8" })] }, "arm64"),
    ).to.deep.equal({ manifest: digest("8") });
    expect(result({ manifests: [attestation, of("5")] })).to.deep.equal({ manifest: digest("5") });
    expect(result({ manifests: [of("5"), plain] })).to.deep.equal({ manifest: digest("0") });
    expect(result({ manifests: [of("5"), of("6")] }), "either").to.equal("RevisionNotFound");
    expect(result({ manifests: [{ platform: amd64, digest: `sha512:${"0".repeat(128)}` }] })).to.equal(
      "ContentRefused",
    );
    expect(result({ manifests: [] })).to.equal("RevisionNotFound");
  });

  it("refuses what is no image of a file system", () => {
    const layer = { mediaType: tar, digest: digest("1"), size: 1 };
    const wrong: readonly unknown[] = [
      "no JSON",
      "[]",
      "null",
      {},
      { layers: [{ ...layer, mediaType: "application/wasm" }] },
      { layers: [{ ...layer, digest: "sha256:../../x" }] },
      { layers: [{ ...layer, size: -1 }] },
      { layers: [{ ...layer, size: "1" }] },
      { layers: [null] },
      { layers: Array.from({ length: 513 }, () => layer) },
    ];
    for (const manifest of wrong) expect(result(manifest), JSON.stringify(manifest)).to.equal("ContentRefused");
  });
});
