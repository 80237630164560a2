// An older build of the project, from the history of the repository: two builds of one tree cannot show that one
// version understands what another wrote (docs/decisions/0116).
import { execFile } from "node:child_process";
import { globSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { promisify } from "node:util";
import { Buildah } from "../../../hack/lib/image/buildah.ts";
import { root } from "../../../hack/lib/root.ts";
import { overlayOf } from "./install-ways.ts";
import { type InstallWorld, imageName } from "./install-world.ts";

const run = promisify(execFile);

/** The oldest one that this tree's agents and controllers must work with: docs/api-versions.md. */
const commit = "9d547570";
/** Where that commit has the digests of its policies. */
const digests = "src/kube/policy-digests.gen.ts";
/** The one image of both roles that it had. */
const olderName = "nodevolume.test/node-volume-operator";

export interface OlderBuild {
  readonly version: string;
  /** As world.overlay() for the build of this tree. */
  readonly overlay: string;
  /** Whether its policies are this tree's: else nothing is released while both are there (docs/security.md). */
  readonly samePolicies: boolean;
}

/** Why it cannot be built; undefined if it can. */
export async function missingForOlder(): Promise<string | undefined> {
  const there = run("git", ["cat-file", "-e", `${commit}^{commit}`], { cwd: root });
  return there.then(
    () => undefined,
    () => `needs the commit ${commit}, which a shallow clone has not`,
  );
}

/**
 * Builds its programs, with the npm packages of this tree, and an image that has them in place of this tree's: what is
 * Debian's in it is the same. Gives it to the node.
 * @param base version of an image that the world has built
 */
export async function buildOlder(world: InstallWorld, base: string): Promise<OlderBuild> {
  const version = "0.0.9";
  const folder = join(world.directory, "older");
  await unpack(folder, version);
  await run(process.execPath, ["hack/build.ts"], { cwd: folder });

  const directory = join(world.directory, "images");
  const buildah = new Buildah({ program: world.images.tools.buildah, directory, env: process.env });
  const image = `${olderName}:${version}`;
  const container = await buildah.run("from", buildah.policy, "--pull-never", imageName("agent", base));
  await buildah.run("copy", "--quiet", container, ...globSync(join(folder, "dist/*.cjs")), "/app/");
  await buildah.run("commit", buildah.policy, "--quiet", "--rm", container, image);
  const archive = join(directory, "older.tar");
  await buildah.run("push", buildah.policy, image, `docker-archive:${archive}:${image}`);
  await world.node.importImage(archive);
  rmSync(archive);

  const name = "overlay-older";
  const overlay = overlayOf(world, {
    name,
    version: base,
    resources: [relative(join(world.directory, name), join(folder, "config/default"))],
    images: [{ name: "node-volume-operator", newName: olderName, newTag: version }],
  });
  const differ = run(
    "git",
    ["diff", "--quiet", `${commit}:${digests}`, "--", "src/kube/policies/policy-digests.gen.ts"],
    { cwd: root },
  );
  return {
    version,
    overlay,
    samePolicies: await differ.then(
      () => true,
      (error: { readonly code?: unknown }) => {
        if (error.code === 1) return false; // they differ (git-diff(1), --quiet)
        throw error;
      },
    ),
  };
}

async function unpack(folder: string, version: string): Promise<void> {
  mkdirSync(folder);
  const archive = join(folder, "older.tar");
  const paths = ["config", "crds", "hack", "package.json", "src"];
  await run("git", ["archive", "--output", archive, commit, ...paths], { cwd: root });
  await run("tar", ["-xf", archive, "-C", folder]);
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const file = join(folder, "src/version.ts");
  writeFileSync(file, readFileSync(file, "utf8").replace(/(?<=version = ")[^"]+/, version));
}
