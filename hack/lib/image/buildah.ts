import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { StepError } from "../process.ts";

const run = promisify(execFile);

export interface BuildahOptions {
  readonly program: string;
  /** Everything that it writes is beneath this folder. */
  readonly directory: string;
  readonly env: NodeJS.ProcessEnv;
}

/** buildah with a store and settings of its own. */
export class Buildah {
  readonly #options: BuildahOptions;
  readonly #files: string;

  constructor(options: BuildahOptions) {
    this.#options = options;
    const { directory } = options;
    this.#files = join(directory, "settings");
    mkdirSync(this.#files, { recursive: true });
    const store = `driver = "overlay"\ngraphroot = "${directory}/storage"\nrunroot = "${directory}/run"\n`;
    writeFileSync(join(this.#files, "storage.conf"), `[storage]\n${store}`);
    writeFileSync(join(this.#files, "registries.conf"), 'unqualified-search-registries = ["docker.io"]\n');
    writeFileSync(join(this.#files, "policy.json"), '{"default":[{"type":"insecureAcceptAnything"}]}');
    writeFileSync(join(this.#files, "containers.conf"), "");
  }

  /** An option, in place of the machine's policy, which it need not have. */
  get policy(): string {
    return `--signature-policy=${join(this.#files, "policy.json")}`;
  }

  /** @returns what it prints */
  async run(...args: string[]): Promise<string> {
    const { program, directory, env } = this.#options;
    const file = (name: string) => join(this.#files, name);
    const temporary = join(directory, "tmp");
    mkdirSync(temporary, { recursive: true });
    const own = {
      CONTAINERS_STORAGE_CONF: file("storage.conf"),
      CONTAINERS_REGISTRIES_CONF: file("registries.conf"),
      CONTAINERS_CONF: file("containers.conf"),
      BUILDAH_ISOLATION: "chroot",
      TMPDIR: temporary,
    };
    const settings = { env: { ...env, ...own }, maxBuffer: 64 << 20, timeout: 900_000 };
    try {
      return (await run(program, args, settings)).stdout.trim();
    } catch (error) {
      const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
      const details = `${stdout}\n${stderr}`.trim().split("\n").slice(-15);
      const remedy =
        "the lines above are buildah's; of a build, apt-get says which package of the Dockerfile is missing";
      throw new StepError(`buildah ${args[0]} failed`, { details, remedy });
    }
  }
}
