import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { root } from "../root.ts";
import { cacheDirectory } from "../tools/tool.ts";

/** Folders that a sandbox must still see where they are, should they lie beneath /tmp or /mnt. */
export function keptFolders(env: NodeJS.ProcessEnv): string[] {
  const given = [env["KUBEBUILDER_ASSETS"], env["GOCACHE"], env["GOMODCACHE"], env["GOPATH"], env["GOROOT"]];
  return [
    root,
    cacheDirectory(env),
    dirname(process.execPath),
    // Go's own caches, where nothing says otherwise.
    join(homedir(), "go"),
    join(env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "go-build"),
    ...given.filter((path) => path !== undefined && path !== ""),
  ] as string[];
}
