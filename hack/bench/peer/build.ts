import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { cacheDirectory } from "../../lib/tools/tool.ts";

/**
 * The program that measures kubelet's volume manager, built from the folder that PEER names and kept in the tool cache.
 * @returns undefined without PEER
 * @throws Error with the compiler's last words
 */
export async function buildPeer(env: NodeJS.ProcessEnv, report: (line: string) => void): Promise<string | undefined> {
  const { PEER: folder } = env;
  if (folder === undefined || folder === "") return undefined;
  const cache = cacheDirectory(env);
  const kept = join(cache, `peer-${digestOf(folder)}`);
  if (existsSync(join(kept, "peer"))) return join(kept, "peer");
  report(`building kubelet's volume manager from ${folder} (minutes, once; kept in the cache)`);
  mkdirSync(cache, { recursive: true });
  const workshop = mkdtempSync(join(cache, "tmp-peer-"));
  try {
    const command = ["-n", "5", "go", "build", "-mod=readonly", "-o", join(workshop, "peer"), "."];
    await promisify(execFile)("nice", command, {
      cwd: folder,
      env: { ...env, GOFLAGS: "-buildvcs=false", GOWORK: "off" },
    });
    renameSync(workshop, kept);
  } finally {
    rmSync(workshop, { recursive: true, force: true });
  }
  return join(kept, "peer");
}

function digestOf(folder: string): string {
  const hash = createHash("sha256");
  for (const name of readdirSync(folder)
    .filter((file) => /\.(go|mod|sum)$/.test(file))
    .sort()) {
    hash.update(`${name}\n`).update(readFileSync(join(folder, name)));
  }
  return hash.digest("hex").slice(0, 12);
}
