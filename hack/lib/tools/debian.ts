// Debian packages, downloaded and unpacked without a change of the machine: apt has its lists in the cache, and runs
// none of the machine's hooks.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import type { LocateOptions } from "./cache.ts";
import { cacheDirectory } from "./tool.ts";

const run = promisify(execFile);
const hour = 3_600_000;
const reportEvery = 5000;

/** Packages with all that they depend on; of programs with too many libraries to name them. */
export interface Needed {
  readonly closureOf: readonly string[];
  /** Also what this machine has: for a root file system that is to be the same everywhere. */
  readonly whole?: true;
  /** A line for sources.list beside the machine's own; "package/suite" asks for a package of it. */
  readonly source?: string;
}

/** Packages by name, which the machine's own sources may not have. */
interface Foreign {
  readonly names: readonly string[];
  /** Of Debian, beside the machine's own; "package/suite" asks for a package of it. */
  readonly suite?: string;
  /** By Debian's names; "package:architecture" asks for a package of one. */
  readonly architectures?: readonly string[];
}

/** What is unpacked. */
export interface Unpacking {
  /** For people. */
  readonly name: string;
  readonly packages: readonly string[] | Needed | Foreign;
  readonly out: string;
  /** Is empty, and goes afterwards. */
  readonly workshop: string;
}

/**
 * Downloads packages and unpacks them into `out`. No script of theirs is run.
 * @throws Error of the program that failed
 */
export async function unpackPackages({ name, packages, out, workshop }: Unpacking, options: LocateOptions) {
  const { env, report } = options;
  report(`fetching the Debian packages of ${name} (once; kept in the cache)`);
  const downloads = join(workshop, "packages");
  mkdirSync(downloads);
  const aptGet = await updated(options, workshop, await beside(packages, options));
  const all = "closureOf" in packages ? await closureOf(packages, aptGet, options) : namesOf(packages);
  await download(all, { name, aptGet, downloads }, options);
  for (const file of readdirSync(downloads)) await run("dpkg-deb", ["-x", join(downloads, file), out], { env });
}

/** What a release of Debian has for one architecture: nothing of it is downloaded but its index. */
interface DebianIndex extends Disposable {
  /**
   * What apt would install for packages on a machine that has nothing, as NAME=VERSION, without what is recommended.
   * @throws Error with apt's words, which name a package that is not there
   */
  closureOf(names: readonly string[]): Promise<string[]>;
}

/** @returns what the machine lacks, if the index cannot be had */
export async function openDebianIndex(
  { suite, architecture }: { readonly suite: string; readonly architecture: string },
  options: LocateOptions,
): Promise<DebianIndex | { readonly missing: string }> {
  const workshop = mkdtempSync(join(tmpdir(), "nodevolume-debian-"));
  const close = () => rmSync(workshop, { recursive: true });
  try {
    const only = { line: await sourceOf(suite, options.env), only: architecture };
    const aptGet = await updated(options, workshop, only);
    return {
      closureOf: (names) => closureOf({ closureOf: names, whole: true }, aptGet, options),
      [Symbol.dispose]: close,
    };
  } catch (error) {
    close();
    return { missing: `needs Debian's index of ${suite}: ${(error as Error).message.trim().split("\n").at(-1)}` };
  }
}

/** A line for sources.list, from the mirror that this system uses. @throws Error if it uses none */
export async function sourceOf(suite: string, env: NodeJS.ProcessEnv): Promise<string> {
  const { stdout } = await run("apt-get", ["indextargets", "--format", "$(CREATED_BY) $(REPO_URI)"], { env });
  const [, uri] = /^Packages (\S+\/debian\/?)$/m.exec(stdout) ?? [];
  if (uri === undefined) throw new Error("no source of this machine's apt is a mirror of Debian");
  return `deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] ${uri} ${suite} main`;
}

function namesOf(packages: readonly string[] | Foreign): readonly string[] {
  return "names" in packages ? packages.names : packages;
}

/** What apt is told beside what the machine's own says. */
interface Beside {
  readonly line?: string;
  readonly architectures?: readonly string[];
  /** The line is the only source, and this the only architecture; that an index cannot be had is an error. */
  readonly only?: string;
}

async function beside(packages: Unpacking["packages"], { env }: LocateOptions): Promise<Beside | undefined> {
  if ("closureOf" in packages) return packages.source === undefined ? undefined : { line: packages.source };
  if (!("names" in packages)) return undefined;
  const { suite, architectures } = packages;
  return {
    ...(suite !== undefined && { line: await sourceOf(suite, env) }),
    ...(architectures !== undefined && { architectures }),
  };
}

/** Debian's /lib and /sbin are links into /usr, and some packages have their files there by the old name. */
export function mergeUsr(out: string): void {
  for (const name of ["bin", "sbin", "lib", "lib32", "lib64"]) {
    const [old, now] = [join(out, name), join(out, "usr", name)];
    if (existsSync(old) && lstatSync(old).isDirectory()) move(old, now);
    if (existsSync(now) && !existsSync(old)) symlinkSync(`usr/${name}`, old);
  }
}

function move(from: string, to: string): void {
  if (existsSync(to) && lstatSync(from).isDirectory()) {
    for (const name of readdirSync(from)) move(join(from, name), join(to, name));
    rmdirSync(from);
  } else renameSync(from, to);
}

/**
 * Gets lists that are at most an hour old. The machine's may be older than what the mirror still has, and are not ours
 * to update.
 * @returns arguments of apt-get
 */
async function updated({ env, report }: LocateOptions, workshop: string, extra?: Beside): Promise<string[]> {
  const folder = join(extra === undefined ? cacheDirectory(env) : workshop, "apt");
  for (const name of ["lists", "archives"]) mkdirSync(join(folder, name, "partial"), { recursive: true });
  writeFileSync(join(folder, "nothing-installed"), "");
  const values = {
    "Dir::State": folder,
    "Dir::Cache": folder,
    "Debug::NoLocking": "true", // of the machine's dpkg; this cache has a lock of its own
    "APT::Sandbox::User": "root", // apt's own user may not get into this cache
    "APT::Install-Recommends": "false",
    "Acquire::Retries": "3",
    ...(extra?.line !== undefined && { "Dir::Etc::SourceList": join(folder, "sources.list") }),
    ...(extra?.only !== undefined && {
      "Dir::Etc::SourceParts": "/dev/null",
      "APT::Architecture": extra.only,
      "APT::Update::Error-Mode": "any",
    }),
  };
  const hooks = ["Pre-Invoke", "Post-Invoke", "Post-Invoke-Success"].map((when) => `#clear APT::Update::${when};\n`);
  const named = extra?.only === undefined ? extra?.architectures : [extra.only];
  const architectures = named?.map((name) => `APT::Architectures:: "${name}";\n`) ?? [];
  const config = join(folder, "conf");
  const lines = [...hooks, ...Object.entries(values).map(([key, value]) => `${key} "${value}";\n`), ...architectures];
  writeFileSync(config, lines.join(""));
  if (extra?.line !== undefined) {
    const machines = "/etc/apt/sources.list";
    const text = extra.only === undefined && existsSync(machines) ? readFileSync(machines, "utf8") : "";
    writeFileSync(join(folder, "sources.list"), `${text}\n${extra.line}\n`);
  }
  const stamp = join(folder, "updated");
  if (!existsSync(stamp) || Date.now() - statSync(stamp).mtimeMs > hour) {
    report("fetching Debian's package lists");
    await run("apt-get", ["-c", config, "-qq", "update"], { cwd: folder, env, timeout: 300_000 });
    writeFileSync(stamp, "");
  }
  return ["-c", config];
}

/** As apt would install them: it is asked, and installs nothing. */
async function closureOf({ closureOf: of, whole }: Needed, aptGet: readonly string[], { env }: LocateOptions) {
  const nothing = join(String(aptGet[1]), "../nothing-installed");
  const status = whole ? ["-o", `Dir::State::Status=${nothing}`] : [];
  const { stdout } = await run("apt-get", [...aptGet, ...status, "--simulate", "install", ...of], {
    env: { ...env, LC_ALL: "C" },
    maxBuffer: 16 * 1024 * 1024,
  });
  // "Inst NAME [VERSION THAT IS THERE] (VERSION ORIGIN…"
  return [...stdout.matchAll(/^Inst (\S+)(?: \[\S+\])? \((\S+)/gm)].map(([, name, version]) => `${name}=${version}`);
}

/** Says every few seconds how far it is. */
async function download(
  all: readonly string[],
  { name, aptGet, downloads }: { name: string; aptGet: readonly string[]; downloads: string },
  { env, report, signal }: LocateOptions,
): Promise<void> {
  const args = [...aptGet, "-q", "download", ...all];
  report(`${name}: ${all.length} packages`);
  const child = spawn("apt-get", args, { cwd: downloads, env: { ...env, LC_ALL: "C" }, timeout: 900_000, signal });
  const closed = once(child, "close");
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  let said = Date.now();
  createInterface(child.stdout).on("line", (line) => {
    const [, number, what] = /^Get:(\d+) \S+ \S+ \S+ (\S+)/.exec(line) ?? [];
    if (number === undefined || Date.now() - said < reportEvery) return;
    said = Date.now();
    report(`${name}: package ${number} of ${all.length}, ${what}`);
  });
  const [code] = await closed;
  if (code !== 0) throw new Error(stderr || `apt-get download ended with ${code}`);
}
