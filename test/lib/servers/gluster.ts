import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { commandLines } from "../../../hack/lib/command-lines.ts";
import { skipBecause } from "../../../hack/lib/lanes/skip-reason.ts";
import { locateGluster } from "../../../hack/lib/tools/gluster.ts";
import { until } from "../../../hack/lib/until.ts";
import { need } from "../asserts/requirements.ts";
import { ownNetwork } from "../kernel/own-network.ts";

/** Of the network that server and client share. */
export const glusterAddress = "10.7.7.7";
/** There is no way to it. */
export const nobodysAddress = "10.7.7.8";

/** Debian's GlusterFS: a real glusterd with its bricks, and the client put where programs are, all gone in the end. */
export class GlusterServer implements AsyncDisposable {
  readonly #unpacked: string;
  readonly #path: string;
  readonly #network: Disposable;
  #glusterd: ChildProcess | undefined;
  #ended: Promise<void> | undefined;

  /** Skips the tests of a `before` hook, by name, where there is none to be had. Fetched once: allow minutes. */
  static async start(context: Mocha.Context): Promise<GlusterServer> {
    need(context, "root", "fuse");
    const unpacked = await locateGluster({ env: process.env, report: (line) => console.log(line) });
    if (typeof unpacked !== "string") skipBecause(context, unpacked.missing);
    const server = new GlusterServer(unpacked);
    await server.begin();
    return server;
  }

  private constructor(unpacked: string) {
    this.#unpacked = unpacked;
    this.#path = mkdtempSync(join(tmpdir(), "nvo-gluster-"));
    for (const name of ["lib", "log", "run/gluster", "bricks"]) mkdirSync(join(this.#path, name), { recursive: true });
    this.#network = ownNetwork([glusterAddress]);
    overlay(unpacked, "usr", "/usr");
  }

  /** Starts what was killed, too: with the volumes that it had. */
  async begin(): Promise<void> {
    const binds = ["lib", "log"].map((name) => `mount --bind ${this.#path}/${name} /var/${name}`);
    const etc = `mount -t overlay -o lowerdir=${this.#unpacked}/etc:/etc gluster /etc`;
    const run = `mount --bind ${this.#path}/run /run`;
    const directories = "mkdir -p /var/lib/glusterd /var/log/glusterfs";
    // The first process is a shell, because somebody has to reap bricks that are killed: glusterd takes them for alive.
    const whole = ["set -e", ...binds, run, etc, directories, "glusterd --no-daemon --log-level=ERROR &", "wait"].join(
      "\n",
    );
    const own = ["--mount", "--pid", "--fork", "--kill-child=KILL", "--mount-proc", "--propagation=private"];
    const server = spawn("unshare", [...own, "sh", "-c", whole], { stdio: ["ignore", "ignore", "inherit"] });
    this.#glusterd = server;
    this.#ended = new Promise((resolve) => server.once("exit", () => resolve()));
    await until("glusterd", 20_000, () => this.#says("volume", "list"));
  }

  /** Ends glusterd and every brick at once, as a power cut does. */
  async kill(): Promise<void> {
    this.#glusterd?.kill("SIGKILL");
    await this.#ended;
    this.#glusterd = undefined;
  }

  /** Stops it, or lets it go on: it accepts connections, and answers nothing. */
  signal(signal: "SIGSTOP" | "SIGCONT"): void {
    const glusterd = processOf((args) => args[0] === "glusterd");
    process.kill(glusterd, signal);
  }

  /** Makes a volume with one brick. */
  volume(name: string): void {
    const brick = `${this.#path}/bricks/${name}`;
    mkdirSync(brick);
    this.#gluster("volume", "create", name, "transport", "tcp", `${glusterAddress}:${brick}`, "force");
    this.#gluster("volume", "start", name);
  }

  /** Ends what serves a volume's brick; glusterd goes on, and does not start it again. */
  async killBrick(name: string): Promise<void> {
    const brick = processOf((args) => args.includes(this.brick(name)));
    process.kill(brick, "SIGKILL");
    await until(`the end of ${brick}`, 10_000, () => !commandLines().get(brick)?.includes(this.brick(name)));
  }

  startBrick(name: string): void {
    this.#gluster("volume", "start", name, "force");
  }

  /** What a volume has, as the server sees it. */
  brick(name: string): string {
    return `${this.#path}/bricks/${name}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    execFileSync("umount", ["-l", "/usr"]);
    this.#network[Symbol.dispose]();
    rmSync(this.#path, { recursive: true });
  }

  #says(...args: string[]): boolean {
    try {
      this.#gluster(...args);
      return true;
    } catch {
      return false; // it does not listen yet
    }
  }

  #gluster(...args: string[]): void {
    const socket = `--glusterd-sock=${this.#path}/run/glusterd.socket`;
    const all = ["--mode=script", socket, `--log-file=${this.#path}/cli.log`, ...args];
    const { status, stdout, stderr } = spawnSync("gluster", all, { encoding: "utf8" });
    if (status !== 0) throw new Error(`gluster ${args.join(" ")}: ${stdout}${stderr}`);
  }
}

/** Of those that this PID namespace has. */
function processOf(isIt: (args: readonly string[]) => boolean): number {
  const [found] = [...commandLines()].find(([, args]) => isIt(args)) ?? [];
  if (found === undefined) throw new Error("there is no such process");
  return found;
}

function overlay(unpacked: string, part: string, over: string): void {
  execFileSync("mount", ["-t", "overlay", "-o", `lowerdir=${unpacked}/${part}:${over}`, "gluster", over]);
}
