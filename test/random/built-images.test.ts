// Random images that others build, as we unpack them, held against what umoci makes of them and against the tree that
// they were built of.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { expect } from "chai";
import { Buildah } from "../../hack/lib/image/buildah.ts";
import { skipBecause } from "../../hack/lib/lanes/skip-reason.ts";
import { slow } from "../../hack/lib/lanes/slow.ts";
import { locateBuildah } from "../../hack/lib/tools/buildah.ts";
import { locateUnpacked } from "../../hack/lib/tools/unpacked.ts";
import { need } from "../lib/asserts/requirements.ts";
import { changeTree } from "../lib/builders/random-tree.ts";
import { filesIn, likeTheirs, unpackLayers } from "../lib/kernel/unpacked-trees.ts";
import { tryAll } from "../lib/mutate/tries.ts";
import type { SeededRandom } from "../sim/random.ts";

interface Builder {
  /**
   * Builds an image of one layer after the other at `layout:v1`, and calls `change` for each with where its files are.
   * @returns what was in it last
   */
  build(layout: string, layers: number, change: (root: string) => void): Promise<readonly string[]>;
}

describe("random images that others build", function () {
  this.timeout(60_000);
  let place: string;
  let umoci: string;
  const builders = { umoci: { build: buildByUmoci }, buildah: { build: buildByBuildah } } satisfies Record<
    string,
    Builder
  >;
  let buildah: Buildah;
  let built = 0;

  before(async function () {
    need(this, "root", "overlay");
    const options = { env: process.env, report: (line: string) => console.log(line) };
    const unpacked = await locateUnpacked({ name: "umoci", packages: ["umoci"], has: "usr/bin/umoci" }, options);
    if (typeof unpacked !== "string") skipBecause(this, unpacked.missing);
    umoci = `${unpacked}/usr/bin/umoci`;
    const folder = await locateBuildah(options);
    if (typeof folder !== "string") skipBecause(this, folder.missing);
    place = mkdtempSync(`${tmpdir()}/built-`);
    buildah = new Buildah({ program: `${folder}/usr/bin/buildah`, directory: `${place}/buildah`, env: process.env });
  });
  after(async () => {
    if (place === undefined) return;
    await buildah.run("rm", "--all");
    await buildah.run("rmi", "--all", "--force");
    const storage = `${place}/buildah/storage/overlay`;
    if (existsSync(storage) && readFileSync("/proc/self/mountinfo", "utf8").includes(` ${storage} `))
      execFileSync("umount", [storage]);
    rmSync(place, { recursive: true });
  });

  for (const by of ["umoci", "buildah"] as const) {
    const attempt = (random: SeededRandom) => compare(builders[by], random);
    it(`by ${by}: a few are as umoci unpacks them, and as they were`, async () => {
      await tryAll({ what: `images by ${by}`, usual: 5, whole: 5, attempt, reaches: { same: 5 } });
    });
    slow(`by ${by}: 150 are as umoci unpacks them, and as they were`, async function () {
      this.timeout(1_800_000);
      await tryAll({ what: `more images by ${by}`, usual: 150, whole: 1_500, attempt, reaches: { same: 150 } });
    });
  }

  async function compare({ build }: Builder, random: SeededRandom): Promise<string> {
    const at = `${place}/${++built}`;
    mkdirSync(at);
    const was = await build(`${at}/layout`, 1 + random.below(3), (root) =>
      changeTree(root, random, 4 + random.below(12)),
    );
    execFileSync(umoci, ["raw", "unpack", "--image", `${at}/layout:v1`, `${at}/theirs`], { stdio: "pipe" });
    const theirs = filesIn(`${at}/theirs`);
    await unpackLayers(`${at}/ours`, layersIn(`${at}/layout`));
    const ours = filesIn(`${at}/ours`);
    expect(ours.map((line, index) => likeTheirs(line, theirs[index])).join("\n")).to.equal(theirs.join("\n"));
    expect(ours.map(withoutTimes).join("\n"), "as it was").to.equal(was.map(withoutTimes).join("\n"));
    rmSync(at, { recursive: true });
    return "same";
  }

  async function buildByUmoci(
    layout: string,
    layers: number,
    change: (root: string) => void,
  ): Promise<readonly string[]> {
    const run = (...args: string[]) => execFileSync(umoci, args, { stdio: "pipe" });
    const bundle = `${layout}-bundle`;
    run("init", "--layout", layout);
    run("new", "--image", `${layout}:v1`);
    run("unpack", "--image", `${layout}:v1`, bundle);
    for (let layer = 0; layer < layers; layer++) {
      change(`${bundle}/rootfs`);
      run("repack", "--refresh-bundle", "--image", `${layout}:v1`, bundle);
    }
    return filesIn(`${bundle}/rootfs`);
  }

  async function buildByBuildah(
    layout: string,
    layers: number,
    change: (root: string) => void,
  ): Promise<readonly string[]> {
    const { policy } = buildah;
    const image = `localhost/random:${built}`;
    let was: readonly string[] = [];
    for (let layer = 0; layer < layers; layer++) {
      const container = await buildah.run("from", policy, "--pull-never", layer === 0 ? "scratch" : image);
      const root = await buildah.run("mount", container);
      change(root);
      was = filesIn(root);
      await buildah.run("commit", policy, "--quiet", "--rm", container, image);
    }
    await buildah.run("push", policy, "--quiet", image, `oci:${layout}:v1`);
    return was;
  }
});

/** The layers of the only image of a layout, the lowest first. */
function layersIn(layout: string): Buffer[] {
  const blob = (digest: string) => readFileSync(`${layout}/blobs/${digest.replace(":", "/")}`);
  const index = JSON.parse(readFileSync(`${layout}/index.json`, "utf8")) as { manifests: { digest: string }[] };
  const manifest = JSON.parse(blob(index.manifests.at(-1)?.digest ?? "").toString()) as {
    layers: { digest: string }[];
  };
  return manifest.layers.map(({ digest }) => blob(digest));
}

/**
 * A file is one more name of another only within a layer: a builder makes two of them of one that a layer beneath has.
 */
function withoutTimes(line: string): string {
  const [of, attributes, , content] = JSON.parse(line) as [string, string, string, string];
  return JSON.stringify([of, attributes.replace(/^([^d] \S+ \S+) \S+/, "$1"), content]);
}
