import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { unpackedPrograms } from "../tools/storage.ts";

/** The product looks for programs nowhere else: not in a PATH. */
const place = "/usr/sbin";

/** In the sandbox alone: those that this machine lacks, of the packages that the lane storage-tools has unpacked. */
export function addStoragePrograms(env: NodeJS.ProcessEnv): void {
  const isHere = (name: string) => [place, "/sbin"].some((folder) => existsSync(join(folder, name)));
  const lacking = unpackedPrograms(env).filter(({ name }) => !isHere(name));
  if (process.arch !== "x64" || lacking.length === 0) return;
  const folder = mkdtempSync("/tmp/programs-");
  chmodSync(folder, 0o755);
  for (const { name, root } of lacking) {
    // With the loader and the libraries of the same packages.
    const loader = `${root}/lib64/ld-linux-x86-64.so.2 --library-path ${root}/usr/lib/x86_64-linux-gnu`;
    const script = `#!/bin/sh\nexec ${loader} --argv0 ${name} ${root}/usr/sbin/${name} "$@"\n`;
    writeFileSync(join(folder, name), script, { mode: 0o755 });
  }
  const mount = ["-t", "overlay", "-o", `lowerdir=${folder}:${place}`, "programs", place];
  try {
    execFileSync("mount", mount, { stdio: ["ignore", "ignore", "pipe"] });
  } catch (error) {
    // The tests that need them are skipped then, by name.
    console.error(
      `${lacking.map(({ name }) => name).join(", ")} cannot be shown in ${place}: ${(error as Error).message}`,
    );
  }
}
