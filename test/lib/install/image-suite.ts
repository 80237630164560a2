// What is in the images: steps of test/install/install.test.ts, which has built them for its cluster.
import { expect } from "chai";
import type { ImageFile } from "../../../hack/lib/image/build.ts";
import { budgets, nameOf, readDockerfile, type Target, targets } from "../../../hack/lib/image/dockerfile.ts";
import { debianPackagesOf } from "../../../hack/release/sbom.ts";
import { onlyInFullImage } from "../../../src/host/linux/child/find-program.ts";
import { full } from "../asserts/requirements.ts";
import { builtFrom, type InstallWorld, imageName } from "./install-world.ts";

const version = "0.1.0";
const image = (target: Target) => imageName(target, version);
/** What src starts of the image, and not of the node. */
const inMinimal = [
  ...["mount", "umount", "blkid", "nsenter", "unshare", "setpriv", "prlimit", "stat", "cp"],
  ...["mkfs.ext4", "mkfs.xfs", "mkfs.btrfs", "mkswap", "e2fsck", "resize2fs", "xfs_growfs", "btrfs"],
  ...["mount.nfs", "git", "ssh", "node"],
];

/** Adds the tests. @param worldOf the world, once it has built version 0.1.0 */
export function imageTests(worldOf: () => InstallWorld): void {
  const images = () => worldOf().images;
  const print = (target: Target, script: string) => images().runIn(image(target), "node", "-p", script);
  const lacked = (target: Target, programs: Iterable<string>) => {
    const script = `for p in ${[...programs].join(" ")}; do command -v $p >/dev/null || echo $p; done`;
    return images().runIn(image(target), "sh", "-c", script);
  };
  const paths = (files: readonly ImageFile[], is: (file: ImageFile) => boolean) =>
    files.filter((file) => file.type !== "d" && is(file)).map(({ path }) => path);

  it("builds the image of the agent without SMB, GlusterFS and Ceph, too", async () => {
    await worldOf().buildImage("agent-minimal", version);
  });

  it("the controller's image has Node, its libraries, certificates and our bundles: no shell, and no other program", async () => {
    const files = await images().filesOf(image("controller"));
    const isLibrary = (path: string) => /^\/usr\/lib(64)?\/.*\.so\.\d+$/.test(path) || /^\/lib(64)?$/.test(path);
    expect(paths(files, ({ path }) => !isLibrary(path)).sort()).to.deep.equal([
      ...["/app/api-proxy.cjs", "/app/controller.cjs", "/app/main.cjs"],
      ...["/etc/debian_version", "/etc/group", "/etc/os-release", "/etc/passwd"],
      ...["/etc/ssl/certs/ca-certificates.crt", "/usr/local/bin/node"],
      ...debianPackagesOf(readDockerfile(), "controller").map((name) => `/var/lib/dpkg/status.d/${name}`),
    ]);
  });

  it("the controller's image runs as a user that has a name, and no rights", async () => {
    expect((await images().configOf(image("controller"))).user).to.equal("65532:65532");
    const who = "[process.getuid(), process.getgid(), os.userInfo().username].join()";
    expect(await print("controller", who)).to.equal("65532,65532,nodevolume");
  });

  it("the agents' images have what mounts, and the small one names what only the other has", async () => {
    for (const target of ["agent", "agent-minimal"] as const) expect(await lacked(target, inMinimal)).to.equal("");
    expect(await lacked("agent", onlyInFullImage)).to.equal("");
    expect((await lacked("agent-minimal", onlyInFullImage)).split("\n")).to.deep.equal([...onlyInFullImage]);
    // Their libraries are there, too.
    const versions = "git --version && glusterfs --version && ceph-fuse --version && rbd-nbd --version";
    expect(await images().runIn(image("agent"), "sh", "-c", versions))
      .to.match(/^glusterfs \d/m)
      .and.match(/^ceph version \d/m);
  });

  it("no image has anything to install more with, or to become another user by", async () => {
    for (const target of targets) {
      const files = await images().filesOf(image(target));
      expect(paths(files, ({ mode }) => (mode & 0o6000) !== 0)).to.deep.equal([]);
      const installers = /\/s?bin\/(npm|npx|corepack|yarn|apt|apt-get|dpkg|dpkg-deb)$/;
      expect(paths(files, ({ path }) => installers.test(path))).to.deep.equal([]);
    }
  });

  it("no image is larger than docs/release.md allows", async () => {
    const sizes = new Map<Target, number>();
    for (const target of targets) sizes.set(target, await images().sizeOf(image(target)));
    for (const [target, size] of sizes) console.log(`    ${nameOf(target)}: ${(size / 1e6).toFixed(0)} MB`);
    for (const target of targets) expect(sizes.get(target), target).to.be.lessThan(budgets[target]);
    expect(sizes.get("agent-minimal")).to.be.lessThan((sizes.get("agent") ?? 0) - 30e6);
  });

  it("the images say what they are, and begin with the same layer: a node pulls Node once", async () => {
    const lowest = new Set<string | undefined>();
    for (const target of targets) {
      const { labels, layers } = await images().configOf(image(target));
      const label = (name: string) => labels[`org.opencontainers.image.${name}`];
      expect([label("title"), label("version"), label("revision"), label("created")]).to.deep.equal([
        ...[nameOf(target), version, builtFrom.REVISION, builtFrom.CREATED],
      ]);
      lowest.add(layers[0]);
      const own = await images().runIn(image(target), "node", "/app/main.cjs", "version");
      expect(own.trim()).to.equal(`node-volume-operator ${version} (${builtFrom.REVISION})`);
    }
    expect(lowest.size).to.equal(1);
  });

  if (full()) {
    it("the images are the same, to the last byte, when they are built again in a store of their own", async function () {
      this.timeout(1_200_000);
      const anew = worldOf().emptyStore();
      for (const target of targets) {
        await worldOf().buildImage(target, version, anew);
        expect(await anew.digestOf(image(target)), target).to.equal(await images().digestOf(image(target)));
      }
    });
  }
}
