import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";

/** A mount namespace with a private copy of ours, that nothing but a file in a new directory keeps. */
export function keepNamespace(directory: string): Disposable & { readonly name: string } {
  const file = `${directory}/kept`;
  mkdirSync(directory);
  writeFileSync(file, "");
  execFileSync("mount", ["--bind", directory, directory]);
  execFileSync("mount", ["--make-private", directory]);
  bindNew(file);
  let there = true;
  return {
    name: `mnt:[${statSync(file).ino}]`,
    [Symbol.dispose]() {
      if (there) execFileSync("umount", ["-lR", directory]);
      there = false;
    },
  };
}

/**
 * Only a namespace with a higher id than ours can be mounted in it (mnt_ns_loop), and since Linux 6.18 each processor
 * gives ids of its own.
 */
function bindNew(file: string): void {
  const tries = cpus().map((_, cpu) => {
    const args = ["-c", `${cpu}`, "unshare", `--mount=${file}`, "--propagation", "private", "true"];
    return () => spawnSync("taskset", args, { encoding: "utf8" });
  });
  const said: string[] = [];
  for (const attempt of tries) {
    const { status, stderr } = attempt();
    if (status === 0) return;
    said.push(stderr);
  }
  throw new Error(said.join());
}
