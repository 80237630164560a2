/** Text that the titles of the tests to run contain; all if not set. */
export const grepVariable = "NODEVOLUME_GREP";
/** Set to anything for the tests that are marked as slow or in quarantine, too. */
export const allVariable = "NODEVOLUME_ALL";
/** Set to anything for the long versions of the tests. */
export const fullVariable = "NODEVOLUME_FULL";
/** Set where QEMU's user mode runs the tests. */
export const emulatedVariable = "NODEVOLUME_EMULATED";
/** What a second try wants, as JSON. */
export const wantedVariable = "NODEVOLUME_WANTED";

/**
 * The parts of the test suite. What needs only processors runs first, on all of them at once; then those that touch the
 * kernel, a few at once. Of each kind the longest is first; see run-lanes.ts.
 */
export interface Lane {
  readonly name: string;
  readonly what: string;
  readonly work: CommandWork | TestWork;
  /**
   * Set for what needs nothing of the machine but processors: `one` runs beside others of its kind, what takes `all` of
   * them after those. Absent: it runs after these, beside others that touch the kernel.
   */
  readonly processors?: "one" | "all";
  /** Set for what asks the whole machine, or is timed: nothing runs beside it. */
  readonly alone?: true;
  /** Set for what only a process in the machine's own PID namespace may see. */
  readonly pids?: "machine";
  /** Only with --all, or by its name. */
  readonly onlyAll?: true;
  /** A test that fails is run once more, alone: kernels and processes have accidents, decisions have none. */
  readonly secondTry?: true;
  /** Minutes after which the lane is ended and counts as failed. */
  readonly limitMinutes: number;
  /** The same with --full, if the lane then does more. */
  readonly fullMinutes?: number;
}

/** One program that passes or fails as a whole. */
interface CommandWork {
  readonly kind: "command";
  readonly command: readonly string[];
}

/** Mocha tests, each counted. */
export interface TestWork {
  readonly kind: "tests";
  readonly files: string;
  /**
   * They are run by an arm64 Node, under QEMU's user mode, on this machine's kernel; skipped as a whole where there is
   * none.
   */
  readonly arm64?: true;
  /** Names each test as it ends; else only what failed. */
  readonly verbose?: true;
  /** Milliseconds for one test that says nothing else. */
  readonly timeoutMs?: number;
}

/** Milliseconds for one test that touches the kernel, and says nothing else. */
const kernelMs = 60_000;

/**
 * Of unit and real, what touches the kernel by numbers and structures of its interface, and is not minutes long where
 * it is emulated.
 */
export const arm64Tests: readonly string[] = [
  ...["errno", "process-ending", "device-number", "give-back-memory"].map((name) => inUnit(`syscall/${name}`)),
  ...["files/linux-journal-file", "device/swap-commands"].map(inUnit),
  ...["image/layer-writer"].map(inUnit),
  ...["block-probe", "child-starter", "core-files", "directories", "exact", "give-to-group", "group-walk"].map(inReal),
  ...["image-whiteouts", "kernel-headers", "mount-events", "mount-links", "mount-watch", "mounter"].map(inReal),
  ...["open-devices", "overlay", "recycled-id", "renamed-above", "spawned-process", "unmount-turns"].map(inReal),
  ...["wake-paths", "wake-sources"].map(inReal),
];

const tests = (folder: string): TestWork => ({ kind: "tests", files: `test/${folder}/**/*.test.ts` });
const kernelTests = (folder: string): TestWork => ({ ...tests(folder), verbose: true, timeoutMs: kernelMs });

export const lanes: readonly Lane[] = [
  { name: "unit", what: "one part at a time", work: tests("unit"), processors: "one", limitMinutes: 20 },
  {
    name: "types",
    what: "tsc",
    work: {
      kind: "command",
      command: ["sh", "-c", "tsc --noEmit -p . && tsc --noEmit -p src/page && tsc --noEmit -p src/cli"],
    },
    processors: "one",
    limitMinutes: 5,
  },
  {
    name: "lint",
    what: "biome",
    work: { kind: "command", command: ["biome", "check", "."] },
    processors: "one",
    limitMinutes: 5,
  },
  { name: "layering", what: "who may import whom", work: tests("layering"), processors: "one", limitMinutes: 5 },
  {
    name: "generated",
    what: "generated files are what their sources say",
    work: { kind: "command", command: ["node", "hack/generate.ts", "--check"] },
    processors: "one",
    limitMinutes: 5,
  },
  {
    name: "laws",
    what: "the planner's laws over random worlds",
    work: tests("laws"),
    processors: "one",
    limitMinutes: 30,
    fullMinutes: 180,
  },
  {
    name: "sim",
    what: "the whole system in a simulator, with a fault at every effect",
    work: { ...tests("sim"), timeoutMs: 300_000 },
    processors: "all",
    limitMinutes: 60,
    fullMinutes: 300,
  },
  {
    name: "storage-tools",
    what: "cryptsetup, LVM, programs of xfs and btrfs, mount.nfs, buildah, unpacked into the cache, if Debian's packages can be had",
    work: { kind: "command", command: ["node", "hack/tools.ts", "--storage"] },
    limitMinutes: 10,
  },
  {
    name: "tools",
    what: "etcd, kube-apiserver, kubectl, toxiproxy, helm and kube-score, with --all Argo CD's engine, built if the cache has none",
    work: { kind: "command", command: ["node", "hack/tools.ts"] },
    limitMinutes: 40,
  },
  {
    name: "release-tools",
    what: "kube-apiserver 1.32, kubeconform and actionlint, built if the cache has none",
    work: { kind: "command", command: ["node", "hack/tools.ts", "--release"] },
    onlyAll: true,
    limitMinutes: 40,
  },
  {
    name: "csi-tools",
    what: "drivers, sidecars and kube-controller-manager, built if the cache has none",
    work: { kind: "command", command: ["node", "hack/tools.ts", "--csi"] },
    limitMinutes: 90,
  },
  {
    name: "e2e-tools",
    what: "kubelet, scheduler, containerd and runc, built if the cache has none",
    work: { kind: "command", command: ["node", "hack/tools.ts", "--e2e"] },
    limitMinutes: 60,
  },
  {
    name: "arm64-tools",
    what: "an arm64 Node, QEMU for it and a kernel, unpacked into the cache, if Debian's packages can be had",
    work: { kind: "command", command: ["node", "hack/tools.ts", "--arm64"] },
    onlyAll: true,
    limitMinutes: 15,
  },
  {
    name: "vm-tools",
    what: "QEMU, a kernel for it and storage servers, unpacked into the cache, if Debian's packages can be had",
    work: { kind: "command", command: ["sh", "hack/vm/prepare.sh"] },
    onlyAll: true,
    limitMinutes: 15,
  },
  {
    name: "cluster",
    what: "a real API server, controller, agents and mounts",
    work: kernelTests("cluster"),
    secondTry: true,
    limitMinutes: 40,
    fullMinutes: 180,
  },
  { name: "real", what: "real mounts", work: kernelTests("real"), secondTry: true, limitMinutes: 30 },
  {
    name: "install",
    what: "the image from the Dockerfile, installed, upgraded and removed on a real kubelet",
    work: { ...tests("install"), verbose: true, timeoutMs: 2 * kernelMs },
    onlyAll: true,
    secondTry: true,
    limitMinutes: 30,
    fullMinutes: 60,
  },
  {
    name: "manifests",
    what: "CRDs, policies, kustomize, Helm and the manifests of docs, on a real API server",
    work: kernelTests("manifests"),
    secondTry: true,
    limitMinutes: 40,
  },
  {
    name: "contract",
    what: "one suite for every plugin",
    work: { ...tests("contract"), timeoutMs: kernelMs },
    secondTry: true,
    limitMinutes: 25,
  },
  {
    name: "random",
    what: "random operations, swapped paths and killed agents on the real kernel",
    work: kernelTests("random"),
    secondTry: true,
    limitMinutes: 30,
    fullMinutes: 300,
  },
  {
    name: "csi",
    what: "real CSI drivers and sidecars",
    work: kernelTests("csi"),
    secondTry: true,
    limitMinutes: 40,
    fullMinutes: 180,
  },
  {
    name: "e2e",
    what: "a real kubelet and its pods",
    work: kernelTests("e2e"),
    secondTry: true,
    limitMinutes: 30,
    fullMinutes: 120,
  },
  {
    name: "page",
    what: "the controller's page, in a real Chromium",
    work: { ...tests("page"), timeoutMs: kernelMs },
    onlyAll: true,
    secondTry: true,
    limitMinutes: 10,
  },
  {
    name: "arm64",
    what: "what touches the kernel, by an arm64 Node on this machine's kernel (QEMU's user mode)",
    work: { ...kernelTests("real"), files: `{${arm64Tests.join()}}`, arm64: true },
    onlyAll: true,
    secondTry: true,
    limitMinutes: 20,
  },
  {
    name: "arm64-vm",
    what: "what QEMU's user mode lacks, on an arm64 kernel in a VM",
    work: kernelTests("arm64"),
    onlyAll: true,
    secondTry: true,
    limitMinutes: 20,
  },
  {
    name: "machine",
    what: "what the kernel shows in the machine's own PID namespace alone: its list of mount namespaces",
    work: kernelTests("machine"),
    pids: "machine",
    alone: true,
    secondTry: true,
    limitMinutes: 5,
  },
  {
    name: "vm",
    what: "what this machine's kernel lacks, in a VM (VM= names another one)",
    work: kernelTests("vm"),
    alone: true,
    onlyAll: true,
    secondTry: true,
    limitMinutes: 45,
    fullMinutes: 90,
  },
];

/** Minutes that a lane has, with --full or without. */
export function minutesOf({ limitMinutes, fullMinutes = limitMinutes }: Lane, full: boolean): number {
  return full ? fullMinutes : limitMinutes;
}

function inUnit(name: string): string {
  return `test/unit/host/linux/${name}.test.ts`;
}

function inReal(name: string): string {
  return `test/real/${name}.test.ts`;
}
