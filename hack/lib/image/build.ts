// Builds the Dockerfile by buildah in a store of its own, for tests: without Docker, and without a registry to have the
// base from.
import { execFile } from "node:child_process";
import { copyFileSync, cpSync, existsSync, mkdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import type { ImageTools } from "../tools/buildah.ts";
import { Buildah } from "./buildah.ts";
import { baseOf, readDockerfile, type Target } from "./dockerfile.ts";

const run = promisify(execFile);

export interface ImageBuilderOptions {
  readonly tools: ImageTools;
  /** Everything that it writes is beneath this folder: some 3 GB. */
  readonly directory: string;
  readonly env: NodeJS.ProcessEnv;
}

/** What is built. */
export interface Build {
  /** A folder with a Dockerfile. */
  readonly context: string;
  readonly target: Target;
  /** Values for the Dockerfile's ARGs. */
  readonly args: { readonly [name: string]: string };
}

/** What an image says of itself. */
export interface ImageConfig {
  readonly user: string;
  readonly labels: { readonly [name: string]: string };
  /** Digests of its layers, as they are unpacked, the lowest first. */
  readonly layers: readonly string[];
}

/** A file of an image. */
export interface ImageFile {
  readonly path: string;
  /** As find(1) says it: f, d, l. */
  readonly type: string;
  /** Permissions with setuid and the like. */
  readonly mode: number;
}

/** Builds images, each after the one before it; layers that are the same are made once. */
export class ImageBuilder {
  readonly #options: ImageBuilderOptions;
  readonly #buildah: Buildah;

  constructor(options: ImageBuilderOptions) {
    this.#options = options;
    const { tools, directory, env } = options;
    this.#buildah = new Buildah({ program: tools.buildah, directory, env });
  }

  get tools(): ImageTools {
    return this.#options.tools;
  }

  /** Without the time of the build: another build of the same is the same. */
  async build({ context, target, args }: Build, name: string): Promise<void> {
    await this.#base(context);
    const given = Object.entries(args).map(([key, value]) => `--build-arg=${key}=${value}`);
    const how = ["--layers", "--timestamp=0", "--pull-never", `--target=${target}`, ...given];
    await this.#buildah.run("build", this.#buildah.policy, ...how, "--tag", name, context);
  }

  /** @returns the path of an archive of an image that `ctr images import` takes */
  async archive(name: string): Promise<string> {
    const archive = join(this.#options.directory, `${name.replace(/[/:]/g, "_")}.tar`);
    rmSync(archive, { force: true }); // buildah adds to none that is there
    await this.#buildah.run("push", this.#buildah.policy, name, `docker-archive:${archive}:${name}`);
    return archive;
  }

  /** What a command prints in a container of an image, as the image's user. */
  async runIn(name: string, ...command: string[]): Promise<string> {
    return this.#withContainer(name, (container) => this.#buildah.run("run", container, "--", ...command));
  }

  /** All files of an image. Nothing of it is run. */
  async filesOf(name: string): Promise<ImageFile[]> {
    return this.#withContainer(name, async (container) => {
      const place = await this.#buildah.run("mount", container);
      const options = { maxBuffer: 64 << 20 };
      const { stdout } = await run("find", [place, "-mindepth", "1", "-printf", "%m %y /%P\\n"], options);
      await this.#buildah.run("umount", container);
      return stdout
        .trim()
        .split("\n")
        .map((line) => {
          const [mode = "", type = "", ...path] = line.split(" ");
          return { mode: Number.parseInt(mode, 8), type, path: path.join(" ") };
        });
    });
  }

  async configOf(name: string): Promise<ImageConfig> {
    const inspected = JSON.parse(await this.#buildah.run("inspect", "--type=image", name)) as Inspected;
    const { config, rootfs } = inspected.OCIv1;
    return { user: config.User ?? "", labels: config.Labels ?? {}, layers: rootfs.diff_ids };
  }

  /** Bytes of an image's layers. */
  async sizeOf(name: string): Promise<number> {
    const { size } = await this.#listed(name);
    const [, number, unit = ""] = /^([\d.]+) ([kMG]?)B$/.exec(size) ?? [];
    return Number(number) * 1000 ** " kMG".indexOf(unit || " ");
  }

  /** Of its configuration, which names its layers by theirs: an image with the same one is the same. */
  async digestOf(name: string): Promise<string> {
    return (await this.#listed(name)).id;
  }

  async #listed(name: string): Promise<{ readonly id: string; readonly size: string }> {
    const [image] = JSON.parse(await this.#buildah.run("images", "--json", name)) as { id: string; size: string }[];
    if (image === undefined) throw new Error(`there is no image ${name}`);
    return image;
  }

  async #withContainer<T>(name: string, use: (container: string) => Promise<T>): Promise<T> {
    const container = await this.#buildah.run("from", this.#buildah.policy, "--pull-never", name);
    try {
      return await use(container);
    } finally {
      await this.#buildah.run("rm", container);
    }
  }

  /**
   * An image like the one that the Dockerfile begins with, of Debian's own packages, and node and npm as they run here.
   */
  async #base(context: string): Promise<void> {
    const name = baseOf(readDockerfile(context));
    const known = await this.#buildah.run("images", "--quiet", "--filter", `reference=docker.io/library/${name}`);
    if (known !== "") return;
    const files = join(this.#options.directory, "base");
    mkdirSync(join(files, "bin"), { recursive: true });
    copyFileSync(realpathSync(process.execPath), join(files, "bin/node"));
    const npm = join(files, "lib/node_modules/npm");
    cpSync(npmFolder(this.#options.env), npm, { recursive: true, dereference: true });
    // Where the machine's registries have an authority of their own; npm's own settings lie beside it.
    const authority = this.#options.env["NODE_EXTRA_CA_CERTS"];
    if (authority !== undefined && existsSync(authority)) {
      copyFileSync(authority, join(npm, "authority.crt"));
      writeFileSync(join(npm, "npmrc"), "cafile=/usr/local/lib/node_modules/npm/authority.crt\n");
    }
    const container = await this.#buildah.run("from", "scratch");
    await this.#buildah.run("add", "--quiet", container, this.#options.tools.debian, "/");
    await this.#buildah.run("copy", "--quiet", container, files, "/usr/local");
    const link = "chmod +x /usr/local/bin/node; ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm";
    await this.#buildah.run("run", container, "--", "/bin/sh", "-c", link);
    await this.#buildah.run("config", "--env", `PATH=${path}`, container);
    await this.#buildah.run("commit", this.#buildah.policy, "--quiet", "--rm", container, `docker.io/library/${name}`);
  }
}

interface Inspected {
  readonly OCIv1: {
    readonly config: { readonly User?: string; readonly Labels?: { readonly [name: string]: string } };
    readonly rootfs: { readonly diff_ids: readonly string[] };
  };
}

const path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** The folder of the npm that runs us, or of the one in PATH. */
function npmFolder(env: NodeJS.ProcessEnv): string {
  const inPath = (env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, "npm"));
  const script = [env["npm_execpath"], ...inPath].find((one) => one !== undefined && existsSync(one));
  if (script === undefined) throw new Error("there is no npm in PATH");
  return dirname(dirname(realpathSync(script)));
}
