import { readFileSync } from "node:fs";
import { join } from "node:path";
import { changesOf } from "./changelog.ts";

/** Where the version stands besides the changelog. */
const places: readonly { readonly file: string; readonly find: RegExp }[] = [
  { file: "package.json", find: /^ {2}"version": "([^"]+)"/m },
  { file: "package-lock.json", find: /^ {2}"version": "([^"]+)"/m },
  { file: "src/version.ts", find: /version = "([^"]+)"/ },
  { file: "config/labels/labels.yaml", find: /version, value: "([^"]+)"/ },
  { file: "config/default/kustomization.yaml", find: /-controller\n {4}newTag: (\S+)/ },
  { file: "config/default/kustomization.yaml", find: /-agent\n {4}newTag: (\S+)/ },
  { file: "Dockerfile", find: /^ARG VERSION=(\S+)$/m },
  { file: "README.md", find: /--image \S+:(\d\S*) --out/ },
];

/**
 * What a checkout says otherwise than that it is this version, one line each.
 * @param directory its root
 */
export function versionProblems(directory: string, version: string): string[] {
  if (!/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/.test(version)) return [`${version} is no version: MAJOR.MINOR.PATCH`];
  const read = (file: string) => readFileSync(join(directory, file), "utf8");
  const differing = places.flatMap(({ file, find }) => {
    const found = find.exec(read(file))?.[1];
    return found === version ? [] : [`${file} says ${found ?? "nothing"}, not ${version}`];
  });
  const changes = changesOf(read("CHANGELOG.md"), version);
  const missing = changes ? [] : [`CHANGELOG.md has no section ${version}: what is under Unreleased becomes it`];
  return [...differing, ...missing];
}
