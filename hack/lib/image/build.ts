// Builds the Dockerfile by buildah in a store of its own, for tests: without Docker, and without a registry to have the base from.
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import type { ImageTools } from "../tools/buildah.ts";
import { Buildah } from "./buildah.ts";

export interface ImageBuilderOptions {
  readonly tools: ImageTools;
  /** Everything that it writes is beneath this folder: some 2 GB. */
  readonly directory: string;
  readonly env: NodeJS.ProcessEnv;
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

  /** Without the time of the build: another build of the same is the same. @param context a folder with a Dockerfile @returns the path of an archive that `ctr images import` takes */
  async build(context: string, name: string): Promise<string> {
    await this.#base(context);
    const policy = this.#buildah.policy;
    await this.#buildah.run("build", policy, "--layers", "--timestamp=0", "--pull-never", "--tag", name, context);
    const archive = join(this.#options.directory, `${name.replace(/[/:]/g, "_")}.tar`);
    await this.#buildah.run("push", policy, name, `docker-archive:${archive}:${name}`);
    return archive;
  }

  /** What a command prints in a container of an image. */
  async runIn(name: string, ...command: string[]): Promise<string> {
    const container = await this.#buildah.run("from", this.#buildah.policy, "--pull-never", name);
    try {
      return await this.#buildah.run("run", container, "--", ...command);
    } finally {
      await this.#buildah.run("rm", container);
    }
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

  /** An image like the one that the Dockerfile begins with, of Debian's own packages, and node and npm as they run here. */
  async #base(context: string): Promise<void> {
    const name = /^FROM (node:\S+)/m.exec(readFileSync(join(context, "Dockerfile"), "utf8"))?.[1];
    if (name === undefined) throw new Error("the Dockerfile does not begin with an image of node");
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

const path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** The folder of the npm that runs us, or of the one in PATH. */
function npmFolder(env: NodeJS.ProcessEnv): string {
  const inPath = (env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, "npm"));
  const script = [env["npm_execpath"], ...inPath].find((one) => one !== undefined && existsSync(one));
  if (script === undefined) throw new Error("there is no npm in PATH");
  return dirname(dirname(realpathSync(script)));
}
