import { mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { root } from "../root.ts";
import { cacheDirectory } from "../tools/tool.ts";

/**
 * Folders that a sandbox must still see where they are, should they lie beneath /tmp or /mnt. The caches are made if
 * they are not there: what is made later, inside, would be on the sandbox's tmpfs and end with it.
 */
export function keptFolders(env: NodeJS.ProcessEnv): string[] {
  const goBuild = env["GOCACHE"] || join(env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "go-build");
  const goModules = env["GOMODCACHE"] || join(env["GOPATH"] || join(homedir(), "go"), "pkg/mod");
  for (const cache of [cacheDirectory(env), goBuild, goModules]) mkdirSync(cache, { recursive: true });
  const given = [env["KUBEBUILDER_ASSETS"], env["GOPATH"], env["GOROOT"]];
  return [
    root,
    cacheDirectory(env),
    goBuild,
    goModules,
    dirname(process.execPath),
    ...given.filter((path) => path !== undefined && path !== ""),
  ] as string[];
}
