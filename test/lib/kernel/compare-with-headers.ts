import { spawnSync } from "node:child_process";
import { join } from "node:path";
import type { byArchitecture } from "../../../src/host/linux/syscall/constants.ts";
import type { Said } from "./header-names.ts";

type Arch = keyof typeof byArchitecture;

/**
 * Any compiler will do for both: they lay structures out alike, and what the headers ask for is which architecture this
 * is.
 */
const pretended: { readonly [arch in Arch]: readonly string[] } = {
  x64: ["-U__aarch64__", "-D__x86_64__"],
  arm64: ["-U__x86_64__", "-D__aarch64__"],
};
const triplets: { readonly [arch in Arch]: string } = { x64: "x86_64-linux-gnu", arm64: "aarch64-linux-gnu" };

/**
 * Has a C compiler compare what our sources say with the headers of an architecture; nothing is run.
 * @param root the folder that has `usr/include` (locateKernelHeaders)
 * @returns what differs, and what the headers do not know: one line for each
 */
export function differencesFrom(
  root: string,
  arch: Arch,
  headers: readonly string[],
  said: readonly Said[],
): readonly string[] {
  const includes = headers.map((name) => `#include <${name}>`);
  const asserts = said.map(
    ({ name, expression, value }) =>
      `_Static_assert((long long)(${expression}) == ${value}LL, "${name} is not ${value}");`,
  );
  const folders = [compilersOwn(), join(root, "usr/include", triplets[arch]), join(root, "usr/include")];
  const flags = ["-fsyntax-only", "-w", "-fno-diagnostics-show-caret", "-nostdinc", "-D_GNU_SOURCE"];
  const args = [...flags, ...pretended[arch], ...folders.flatMap((folder) => ["-isystem", folder]), "-xc", "-"];
  const input = [...includes, ...asserts, ""].join("\n");
  const { status, stderr, error } = spawnSync("cc", args, {
    input,
    encoding: "utf8",
    env: { ...process.env, LC_ALL: "C" },
  });
  if (error !== undefined) throw error;
  const found = stderr.split("\n").filter((line) => line.includes("error:"));
  if (status !== 0 && found.length === 0) throw new Error(`cc ended with ${status}: ${stderr}`);
  return found;
}

/** Of the compiler, as stddef.h. */
function compilersOwn(): string {
  const { stdout, error } = spawnSync("cc", ["-print-file-name=include"], { encoding: "utf8" });
  if (error !== undefined) throw error;
  return stdout.trim();
}
