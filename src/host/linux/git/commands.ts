import type { CheckOutRequest } from "../../ports/repositories.ts";

/** Milliseconds after which a fetch is given up, however it goes. */
export const fetchLimitMs = 30 * 60_000;

/** Where git has its repository in the sandbox (git-sandbox.ts): the one directory that it writes to. */
export const gitDirectory = "/repository";

/**
 * Nothing of the node's or the repository's settings counts but these. git asks for no password, runs no hook, no
 * filter and no credential helper, follows no redirection and no submodule, speaks nothing but HTTP, and looks at each
 * object that it gets.
 */
export const environment: { readonly [name: string]: string } = {
  PATH: "/usr/bin:/bin",
  LC_ALL: "C",
  HOME: "/nonexistent",
  TMPDIR: gitDirectory,
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_SYSTEM: "/dev/null",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_ATTR_NOSYSTEM: "1",
  GIT_TERMINAL_PROMPT: "0",
  GIT_ALLOW_PROTOCOL: "http:https",
  GIT_NO_LAZY_FETCH: "1",
  GIT_NO_REPLACE_OBJECTS: "1",
};

const settings = [
  "protocol.version=2",
  "transfer.fsckObjects=true",
  "fetch.unpackLimit=1", // everything in one file, whose size is limited
  "transfer.bundleURI=false",
  "http.followRedirects=false",
  "http.lowSpeedLimit=1000",
  "http.lowSpeedTime=60",
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  "core.askPass=",
  "credential.helper=",
  "fetch.recurseSubmodules=false",
  "gc.auto=0",
  "maintenance.auto=false",
  "pack.threads=1",
  "core.bigFileThreshold=16m",
  "core.deltaBaseCacheLimit=32m",
];

/** PURE. Arguments of git for a command in a repository that is where it runs. */
export function gitArguments(args: readonly string[]): string[] {
  return ["--git-dir=.", ...settings.flatMap((setting) => ["-c", setting]), ...args];
}

/** PURE. Makes the directory that it runs in a repository without anything in it: no template, no hook. */
export function init({ revision }: Pick<CheckOutRequest, "revision">): string[] {
  const format = revision.length === 64 ? "sha256" : "sha1";
  return ["init", "--quiet", "--bare", "--template=", `--object-format=${format}`, "."];
}

/** PURE. Gets the commit and all that it has, and nothing that came before it. */
export function fetch({ repository, revision }: Pick<CheckOutRequest, "repository" | "revision">): string[] {
  return [
    ...["fetch", "--progress", "--depth=1", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules"],
    ...["--no-auto-maintenance", "--end-of-options", repository, revision],
  ];
}

/** PURE. Lists all files of the commit, or of a directory of it. */
export function list({ revision, subdirectory }: Pick<CheckOutRequest, "revision" | "subdirectory">): string[] {
  const tree = subdirectory === "" ? revision : `${revision}:${subdirectory}`;
  return ["ls-tree", "-r", "-z", "-l", "--full-tree", "--end-of-options", tree];
}

/** Prints the objects that it is told of on its standard input, byte by byte as they are: no attribute changes them. */
export const contents: readonly string[] = ["cat-file", "--batch", "--buffer"];
