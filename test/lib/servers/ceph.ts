import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { skipBecause } from "../../../hack/lib/lanes/skip-reason.ts";
import { locateCeph } from "../../../hack/lib/tools/ceph.ts";
import { until } from "../../../hack/lib/until.ts";
import type { ObjectContent } from "../../../src/plugins/api/content.ts";
import { need } from "../asserts/requirements.ts";
import { ownNetwork } from "../kernel/own-network.ts";

/** Of the network that servers and clients share; nobody listens on the second. */
export const cephAddress = "10.7.7.6";
export const monitorAddress = `${cephAddress}:6789`;
export const nobodysMonitor = `${cephAddress}:6999`;
/** May do to the pools of volumes, and to nothing else, what a client does. */
export const cephUser = "volumes";

export type Daemon = "mon.a" | "osd.0" | "mds.a" | "mds.b";

/**
 * Debian's Ceph, whole but small: a monitor, an OSD on a file, and an MDS, with cephx, on loopback of a network of its
 * own; the clients put where programs are; all gone in the end. No manager: it would only tell how full it is, so that
 * statfs says nothing.
 */
export class CephCluster implements AsyncDisposable {
  readonly #path: string;
  readonly #network: Disposable;
  readonly #daemons: Daemon[] = ["mon.a", "osd.0", "mds.a"];
  readonly #running = new Map<Daemon, ChildProcess>();
  readonly #keys = new Map<string, string>();
  readonly #osdID = randomUUID();

  /** Skips the tests of a `before` hook, by name, where there is none to be had. Fetched once: allow minutes. */
  static async start(context: Mocha.Context): Promise<CephCluster> {
    need(context, "root", "fuse", "python3");
    const cluster = await CephCluster.find();
    return cluster instanceof CephCluster ? cluster : skipBecause(context, cluster.missing);
  }

  /** The same, where it may be missing. */
  static async find(): Promise<CephCluster | { readonly missing: string }> {
    const unpacked = await locateCeph({ env: process.env, report: (line) => console.log(line) });
    if (typeof unpacked !== "string") return unpacked;
    const cluster = new CephCluster(unpacked);
    try {
      await cluster.#make();
      return cluster;
    } catch (error) {
      await cluster[Symbol.asyncDispose]();
      throw error;
    }
  }

  private constructor(unpacked: string) {
    this.#path = mkdtempSync(join(tmpdir(), "nvo-ceph-"));
    for (const name of ["mon", "osd", "mds", "run"]) mkdirSync(join(this.#path, name));
    this.#network = ownNetwork([cephAddress]);
    execFileSync("mount", ["-t", "overlay", "-o", `lowerdir=${unpacked}/usr:/usr`, "ceph", "/usr"]);
  }

  async #make(): Promise<void> {
    const fsid = randomUUID();
    const path = this.#path;
    writeFileSync(join(path, "ceph.conf"), configuration(path, fsid));
    const keyring = join(path, "keyring");
    writeFileSync(keyring, "", { mode: 0o600 });
    const caps = { mon: "allow *", osd: "allow *", mds: "allow *" };
    for (const [name, has] of [
      ["mon.", { mon: "allow *" }],
      ["client.admin", caps],
      ["osd.0", { mon: "allow profile osd", osd: "allow *" }],
      ...["a", "b"].map((id) => [`mds.${id}`, { mon: "allow profile mds", osd: "allow *", mds: "allow *" }] as const),
    ] as const) {
      const given = Object.entries(has).flatMap(([daemon, cap]) => ["--cap", daemon, cap]);
      this.run("ceph-authtool", keyring, "--gen-key", "-n", name, ...given);
    }
    const map = join(path, "monmap");
    this.run("monmaptool", "--create", "--fsid", fsid, "--addv", "a", monitorVector, map);
    this.run("ceph-mon", "--mkfs", "-i", "a", "--monmap", map, "--keyring", keyring);
    this.#spawn("mon.a");
    this.ceph(
      `osd new ${this.#osdID}`,
      "osd crush add 0 1.0 root=default",
      ...["meta", "data", "rbd"].map((pool) => `osd pool create ${pool} 4`),
      "osd pool application enable rbd rbd",
      "fs new fs meta data",
      `auth get-or-create client.${cephUser} mon 'allow r, profile rbd' mds 'allow rw' osd 'allow rw tag cephfs data=*, profile rbd pool=rbd'`,
      "auth get-or-create client.nothing mon 'allow r'",
    );
    this.run("ceph-osd", "-i", "0", "--mkfs", "--osd-uuid", this.#osdID);
    await this.begin();
  }

  /** Makes another file system beside the one that is there, with an MDS of its own. */
  async fileSystem(name: string): Promise<void> {
    this.ceph(
      "fs flag set enable_multiple true --yes-i-really-mean-it",
      ...["meta", "data"].map((of) => `osd pool create ${name}-${of} 4`),
      `fs new ${name} ${name}-meta ${name}-data`,
    );
    this.#daemons.push("mds.b");
    this.#spawn("mds.b");
    await until("an MDS of it that is active", 60_000, () =>
      this.#says("mds stat", new RegExp(`${name}:0=\\S*up:active`)),
    );
  }

  /** Starts what does not run, with the data that it had, and waits until files can be had. */
  async begin(): Promise<void> {
    for (const daemon of this.#daemons) if (!this.#running.has(daemon)) this.#spawn(daemon);
    await until("an MDS that is active", 60_000, () => this.#says("mds stat", /up:active/));
  }

  #says(command: string, what: RegExp): boolean {
    try {
      return what.test(this.ceph(command));
    } catch {
      return false; // the monitor does not answer yet
    }
  }

  /** Ends all of it at once, as a power cut does. */
  async kill(): Promise<void> {
    const running = [...this.#running.values()];
    this.#running.clear();
    const ended = running.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
    await Promise.all(
      ended.map((daemon) => {
        const end = once(daemon, "exit");
        daemon.kill("SIGKILL");
        return end;
      }),
    );
  }

  /** Stops it, or some of its daemons, or lets them go on: what is stopped accepts connections, and answers nothing. */
  signal(signal: "SIGSTOP" | "SIGCONT", ...only: readonly Daemon[]): void {
    for (const [name, daemon] of this.#running) if (only.length === 0 || only.includes(name)) daemon.kill(signal);
  }

  /**
   * Makes images of 64 MiB, each with an ext4, or `empty`; which only one client at a time may write to, or without a
   * lock; or with a feature that no kernel has.
   */
  images(
    names: readonly string[],
    how: { readonly empty?: boolean; readonly unlocked?: boolean; readonly journaled?: boolean } = {},
  ): void {
    const file = join(this.#path, "image");
    writeFileSync(file, "");
    truncateSync(file, 64 << 20);
    if (how.empty !== true) execFileSync("mkfs.ext4", ["-q", "-F", file]);
    const lock = how.unlocked === true ? "" : ",exclusive-lock";
    const features = `layering${lock}${how.journaled === true ? ",journaling" : ""}`;
    for (const name of names) {
      this.run("rbd", "import", "--no-progress", `--image-feature=${features}`, file, `rbd/${name}`);
    }
  }

  /** Makes directories of the file system, with those above them, without a mount. */
  directory(...paths: readonly string[]): void {
    const script =
      "import cephfs, sys; c = cephfs.LibCephFS(conffile=''); c.mount(); [c.mkdirs(p, 0o755) for p in sys.argv[1:]]; c.shutdown()";
    this.run("/usr/bin/python3", "-c", script, ...paths);
  }

  /** Runs commands of ceph(8) one after the other. @returns what they say */
  ceph(...commands: string[]): string {
    return execFileSync("ceph", ["--connect-timeout=5"], {
      encoding: "utf8",
      env: this.#env,
      input: `${commands.join("\n")}\n`,
      stdio: ["pipe", "pipe", "pipe"],
    });
  }

  /** Runs a program of Ceph as the administrator. */
  run(program: string, ...args: string[]): string {
    return execFileSync(program, args, { encoding: "utf8", env: this.#env, stdio: ["ignore", "pipe", "pipe"] });
  }

  /** Of a user, as a Secret has it. */
  secret(user = cephUser): ObjectContent {
    return { version: `${user}/1`, data: new Map([["key", Buffer.from(this.key(user))]]) };
  }

  key(user = cephUser): string {
    const known = this.#keys.get(user) ?? this.ceph(`auth print-key client.${user}`).trim();
    this.#keys.set(user, known);
    return known;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    execFileSync("umount", ["-l", "/usr"]);
    this.#network[Symbol.dispose]();
    rmSync(this.#path, { recursive: true });
  }

  #spawn(daemon: Daemon): void {
    const log = join(this.#path, `${daemon}.out`);
    const [kind, id = ""] = daemon.split(".");
    const started = spawn(`ceph-${kind}`, ["-f", "-i", id], {
      env: this.#env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [started.stdout, started.stderr]) stream?.on("data", (text) => appendFileSync(log, text));
    this.#running.set(daemon, started);
  }

  get #env(): NodeJS.ProcessEnv {
    return { ...process.env, CEPH_CONF: join(this.#path, "ceph.conf") };
  }
}

const monitorVector = `[v2:${cephAddress}:3300,v1:${monitorAddress}]`;

/** One copy of everything, on one OSD; decisions at once, as there is nobody to agree with. */
function configuration(path: string, fsid: string): string {
  const cephx = ["cluster", "service", "client"].map((what) => `auth ${what} required = cephx`);
  return [
    "[global]",
    `fsid = ${fsid}`,
    `mon host = ${monitorVector}`,
    ...cephx,
    "osd pool default size = 1",
    "osd pool default min size = 1",
    "mon allow pool size one = true",
    "mon max pg per osd = 1000",
    "mon data avail crit = 1",
    "osd crush chooseleaf type = 0",
    "paxos propose interval = 0.05",
    `public addr = ${cephAddress}`,
    `cluster addr = ${cephAddress}`,
    `run dir = ${path}/run`,
    `admin socket = ${path}/run/$name.asok`,
    "log file =",
    `keyring = ${path}/keyring`,
    `mon data = ${path}/mon`,
    `osd data = ${path}/osd`,
    `mds data = ${path}/mds`,
    "mds reconnect timeout = 3", // of clients that were killed
    "osd objectstore = bluestore",
    "bluestore block size = 1073741824",
    "bluestore cache autotune = false",
    "bluestore cache size = 33554432",
    "osd memory target = 939524096",
    "",
  ].join("\n");
}
