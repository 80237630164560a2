import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, createWriteStream, renameSync, rmSync } from "node:fs";
import { arch } from "node:os";
import { basename, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { origins } from "./catalog.ts";
import { programIn, type Tool } from "./tool.ts";

/** Where the releases of the two projects are published. */
export interface ReleaseSites {
  readonly kubernetes: string;
  readonly etcd: string;
}

const publicSites: ReleaseSites = {
  kubernetes: "https://dl.k8s.io",
  etcd: "https://github.com/etcd-io/etcd/releases/download",
};

interface FetchOptions {
  readonly out: string;
  readonly report: (line: string) => void;
  readonly signal?: AbortSignal;
  readonly sites?: ReleaseSites;
}

/** Milliseconds to wait for the checksum: where nothing but a module proxy is reachable, this is what is lost. */
const checksumTimeout = 4_000;
/** Milliseconds for the program itself, about 100 MB. */
const downloadTimeout = 180_000;

/**
 * Fetches a program of a release into `out`, if the network allows, and compares it with the published checksum.
 * @returns false if it could not be had, after one reported line, or if there is none
 */
export async function fetchRelease(tool: Tool, options: FetchOptions): Promise<boolean> {
  const published = release(tool, options.sites ?? publicSites);
  if (published === undefined) return false;
  const { url, checksumUrl, archive } = published;
  const download = join(options.out, "download");
  try {
    const wanted = await checksum(checksumUrl, url, options.signal);
    options.report(`fetching ${tool.name} ${tool.version} from ${new URL(url).host}`);
    const found = await fetchFile(url, download, options.signal);
    if (found !== wanted) throw new Error(`the checksum of ${url} is ${found}, and ${wanted} is published`);
    if (archive) unpack(download, options.out, tool);
    else renameSync(download, programIn(options.out, tool));
    chmodSync(programIn(options.out, tool), 0o755);
    return true;
  } catch (error) {
    options.signal?.throwIfAborted();
    options.report(`${tool.name} ${tool.version}: no release to be had (${reason(error)}); building it instead`);
    return false;
  } finally {
    rmSync(download, { force: true });
  }
}

/** Undefined: its project publishes images only, or it is one of those that are built in a way of our own. */
function release(tool: Tool, sites: ReleaseSites) {
  const { module, goPackage } = origins[tool.name];
  if (module !== "k8s.io/kubernetes" && tool.name !== "etcd") return undefined;
  const machine = arch() === "arm64" ? "arm64" : "amd64";
  if (tool.name === "etcd") {
    const base = `${sites.etcd}/${tool.version}`;
    const url = `${base}/etcd-${tool.version}-linux-${machine}.tar.gz`;
    return { url, checksumUrl: `${base}/SHA256SUMS`, archive: true };
  }
  const url = `${sites.kubernetes}/${tool.version}/bin/linux/${machine}/${basename(goPackage)}`;
  return { url, checksumUrl: `${url}.sha256`, archive: false };
}

/** The published sha256 of a file: a line of a list, or the only word there is. */
async function checksum(checksumUrl: string, url: string, signal?: AbortSignal): Promise<string> {
  const response = await get(checksumUrl, checksumTimeout, signal);
  const lines = (await response.text()).trim().split("\n");
  const line = lines.length === 1 ? lines[0] : lines.find((l) => l.endsWith(url.slice(url.lastIndexOf("/") + 1)));
  const sum = line?.split(/\s+/)[0] ?? "";
  if (!/^[0-9a-f]{64}$/.test(sum)) throw new Error(`${checksumUrl} names no sha256`);
  return sum;
}

async function fetchFile(url: string, path: string, signal?: AbortSignal): Promise<string> {
  const response = await get(url, downloadTimeout, signal);
  if (response.body === null) throw new Error(`${url} is empty`);
  const hash = createHash("sha256");
  const body = Readable.fromWeb(response.body as never);
  body.on("data", (chunk: Buffer) => hash.update(chunk));
  await pipeline(body, createWriteStream(path));
  return hash.digest("hex");
}

async function get(url: string, timeout: number, signal?: AbortSignal): Promise<Response> {
  const signals = [AbortSignal.timeout(timeout), ...(signal === undefined ? [] : [signal])];
  const response = await fetch(url, { signal: AbortSignal.any(signals) });
  if (!response.ok) throw new Error(`${new URL(url).host} answered ${response.status}`);
  return response;
}

function unpack(archive: string, out: string, tool: Tool): void {
  const args = ["-xzf", archive, "-C", out, "--strip-components=1", "--no-same-owner", "--wildcards", `*/${tool.name}`];
  const tar = spawnSync("tar", args, { encoding: "utf8" });
  if (tar.status !== 0) throw new Error(`tar: ${tar.stderr.trim()}`);
}

function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === "TimeoutError") return "no answer in time";
  const cause = error.cause as { code?: string } | undefined;
  return cause?.code ?? error.message;
}
