import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { removeCgroup } from "../../../hack/lib/kubelet-node/cgroups.ts";
import { podImage, writePodImage } from "../../../hack/lib/kubelet-node/image.ts";
import { digestOf, tarOf } from "../../../hack/lib/kubelet-node/tar.ts";
import { Randomly } from "../../lib/builders/randomly.ts";

describe("what a real node is made of", () => {
  let directory: string;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "nodevolume-kubelet-node-"));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  const unpack = (archive: string) => {
    execFileSync("tar", ["-xf", archive, "-C", directory]);
    return (name: string) => readFileSync(join(directory, name));
  };

  it("tarOf makes what tar reads, with contents that fill a block, do not, or are none", () => {
    const sizes = { empty: 0, small: 5, block: 512, more: 513 };
    const entries = Object.entries(sizes).map(([name, size]) => ({ name, content: Buffer.alloc(size, name) }));
    const archive = join(directory, "a.tar");
    writeFileSync(archive, tarOf([...entries, { name: "run", content: Buffer.from("#!/bin/sh\n"), executable: true }]));
    const list = execFileSync("tar", ["-tvf", archive], { encoding: "utf8" }).trimEnd().split("\n");
    expect(list.map((line) => line.split(/\s+/)[0])).to.deep.equal([...entries.map(() => "-rw-r--r--"), "-rwxr-xr-x"]);
    const read = unpack(archive);
    for (const { name, content } of entries) expect(read(name).equals(content), name).to.equal(true);
  });

  it("writePodImage makes an image of which each part is where its digest says", () => {
    const program = join(directory, "program");
    writeFileSync(program, "a program");
    const archive = join(directory, "image.tar");
    writePodImage(program, archive);
    const read = unpack(archive);
    const blob = (digest: string) => {
      const content = read(`blobs/${digest.replace(":", "/")}`);
      expect(digestOf(content)).to.equal(digest);
      return content;
    };
    const [entry] = JSON.parse(read("index.json").toString()).manifests;
    expect(entry.annotations["io.containerd.image.name"]).to.equal(podImage);
    const manifest = JSON.parse(blob(entry.digest).toString());
    const config = JSON.parse(blob(manifest.config.digest).toString());
    const [layer] = manifest.layers;
    expect(config.rootfs.diff_ids).to.deep.equal([layer.digest]);
    writeFileSync(join(directory, "layer.tar"), blob(layer.digest));
    unpack(join(directory, "layer.tar"));
    expect(readFileSync(join(directory, "pod-program"), "utf8")).to.equal("a program");
  });

  it("removeCgroup has nothing to do where there is none", async () => {
    await removeCgroup("/nodevolume-that-is-not-there");
  });

  it("Randomly says the same again for a seed, and something else for another", () => {
    const first = (seed: number) => {
      const chance = new Randomly(seed);
      return Array.from({ length: 20 }, () => chance.below(100));
    };
    expect(first(1)).to.deep.equal(first(1));
    expect(first(1)).to.not.deep.equal(first(2));
    expect(Math.max(...first(3))).to.be.below(100);
  });
});
