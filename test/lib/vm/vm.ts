import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { buildPrograms } from "../../../hack/lib/agent-on-kernel/programs.ts";
import { fullVariable } from "../../../hack/lib/lanes/lanes.ts";
import { slownessVariable } from "../../../hack/lib/lanes/slowness.ts";
import { root } from "../../../hack/lib/root.ts";
import { slowness } from "../../../hack/lib/test-deadline.ts";
import { expectCode } from "../asserts/last-lines.ts";
import { full } from "../asserts/requirements.ts";

/** What became of one test in the VM. */
export interface GuestResult {
  readonly title: string;
  readonly outcome: "passed" | "skipped" | "failed";
  readonly ms: number;
  readonly reason?: string;
  readonly note?: object;
}

/**
 * QEMU emulates several processors in as many threads, and then 8 of 108 children that Node runs from source end by
 * SIGSEGV, or by a failed check of V8: in the code that it makes of the WebAssembly by which it takes the types out,
 * whole pages are empty. With one thread none of 160 does, without QEMU none of 300, and bundled, as in the image, none
 * of 180.
 */
const oneProcessor = ["--cpus", "1"] as const;

/** Where vm.sh is: `VM=`, else the project's own. */
const vmFolder = process.env["VM"] || `${root}/hack/vm`;

type GuestPrograms = Awaited<ReturnType<typeof guestPrograms>>;

/** What runs in a VM: once for all of them, as the end of one build ends another. */
export function guestPrograms() {
  return buildPrograms({ guest: "test/lib/vm/vm-guest.ts" });
}

export interface VMTests {
  readonly programs: GuestPrograms;
  /** A regular expression of titles. */
  readonly only: string;
  /** After which it is given up. */
  readonly minutes: number;
  /** A cluster of this process's network. */
  readonly ceph?: { readonly address: string; readonly key: string } | undefined;
  /** Makes what its last tests need. */
  whileItBoots?(): Promise<unknown>;
}

/** Boots a VM, with every server that tests need, and runs the guest's tests there (vm-guest.ts). */
export async function testInVM(tests: VMTests): Promise<{ results: GuestResult[]; output: string }> {
  const { only, minutes, ceph } = tests;
  const { agent, child, guest } = tests.programs;
  const env = {
    NODEVOLUME_GUEST_TESTS: only,
    NODEVOLUME_AGENT: agent,
    NODEVOLUME_CHILD: JSON.stringify(child),
    ...(ceph && { NODEVOLUME_CEPH_ADDRESS: ceph.address, NODEVOLUME_CEPH_KEY: ceph.key }),
    NODEVOLUME_CUT_OFFS: "7",
    [slownessVariable]: `${slowness()}`,
    ...(full() && { [fullVariable]: "1" }),
  };
  const args = [
    ...["run", "--timeout", `${minutes * 60}`, ...oneProcessor, "--disk", "256M"],
    ...["--no-udev", ...(ceph === undefined ? [] : ["--net"]), "--modules", "nfsd dm_mod dm_crypt dm_flakey rbd nbd"],
    ...Object.entries(env).flatMap(([name, value]) => ["--env", `${name}=${value}`]),
    ...["--", "sh", "test/vm/guest.sh", process.execPath, guest],
  ];
  const vm = spawn(`${vmFolder}/vm.sh`, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [vm.stdout, vm.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  const closed = once(vm, "close");
  try {
    await tests.whileItBoots?.();
  } catch (error) {
    vm.kill();
    await closed;
    throw error;
  }
  const [code] = await closed;
  const results = output.split("\n").flatMap((line) => (line.startsWith('{"title":') ? [resultOf(line)] : []));
  const explained = code === 0 || results.some(({ outcome }) => outcome === "failed");
  if (!explained) expectCode(code, 0, output);
  if (results.length === 0) throw new Error(`no test ran in the VM:\n${output}`);
  return { results, output };
}

function resultOf(line: string): GuestResult {
  return JSON.parse(line) as GuestResult;
}

/** For docs/plugin-results.md (hack/plugin-results.ts). */
export function keepResults(results: readonly GuestResult[]): void {
  const lines = results.map((result) => `${JSON.stringify({ lane: "vm", ...result })}\n`);
  mkdirSync(`${root}/dist`, { recursive: true });
  writeFileSync(`${root}/dist/results-vm-guest.jsonl`, lines.join(""));
}
