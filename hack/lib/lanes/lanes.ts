/** Text that the titles of the tests to run contain; all if not set. */
export const grepVariable = "NODEVOLUME_GREP";
/** Set to anything for the long versions of the tests. */
export const fullVariable = "NODEVOLUME_FULL";

/** The parts of the test suite, in the order in which they run: what fails fast comes first. */
export interface Lane {
  readonly name: string;
  readonly what: string;
  readonly work: CommandWork | TestWork;
  /**
   * It runs beside the lanes after it, and after those before it that are beside for the same reason: one that needs nothing of the
   * machine but `processors` on what the others leave of them, one that mostly `waits` as they do. A VM, whose tests have
   * deadlines and which has one processor, is as one of these: on what the others leave it is starved.
   */
  readonly beside?: "processors" | "waits";
  /** Minutes after which the lane is ended and counts as failed. */
  readonly limitMinutes: number;
  /** The same with --full, if the lane then does more. */
  readonly fullMinutes?: number;
}

/** One program that passes or fails as a whole. */
export interface CommandWork {
  readonly kind: "command";
  readonly command: readonly string[];
}

/** Mocha tests, each counted. */
export interface TestWork {
  readonly kind: "tests";
  readonly files: string;
  /** Names each test as it ends; else only what failed. */
  readonly verbose?: true;
  /** Milliseconds for one test that says nothing else. */
  readonly timeoutMs?: number;
}

const tests = (folder: string): TestWork => ({ kind: "tests", files: `test/${folder}/**/*.test.ts` });

export const lanes: readonly Lane[] = [
  {
    name: "types",
    what: "tsc",
    work: { kind: "command", command: ["sh", "-c", "tsc --noEmit -p . && tsc --noEmit -p src/page"] },
    limitMinutes: 5,
  },
  { name: "lint", what: "biome", work: { kind: "command", command: ["biome", "check", "."] }, limitMinutes: 5 },
  { name: "layering", what: "who may import whom", work: tests("layering"), limitMinutes: 5 },
  {
    name: "generated",
    what: "generated files are what their sources say",
    work: { kind: "command", command: ["node", "hack/generate.ts", "--check"] },
    limitMinutes: 5,
  },
  {
    name: "sim",
    what: "the whole system in a simulator, with a fault at every effect",
    work: { ...tests("sim"), timeoutMs: 300_000 },
    beside: "processors",
    limitMinutes: 75,
    fullMinutes: 300,
  },
  {
    name: "vm-tools",
    what: "QEMU, a kernel for it and storage servers, in CI, if Debian's packages can be had",
    work: { kind: "command", command: ["sh", "hack/vm/prepare.sh"] },
    limitMinutes: 15,
  },
  {
    name: "vm",
    what: "what this machine's kernel lacks, in a VM (VM= names another one)",
    work: { ...tests("vm"), verbose: true },
    beside: "waits",
    limitMinutes: 42,
    fullMinutes: 80,
  },
  { name: "unit", what: "one part at a time", work: tests("unit"), limitMinutes: 10 },
  {
    name: "page",
    what: "the controller's page, in a real Chromium",
    work: { ...tests("page"), timeoutMs: 60_000 },
    beside: "waits",
    limitMinutes: 10,
  },
  {
    name: "laws",
    what: "the planner's laws over random worlds",
    work: tests("laws"),
    limitMinutes: 15,
    fullMinutes: 180,
  },
  { name: "contract", what: "one suite for every plugin", work: tests("contract"), limitMinutes: 25 },
  {
    name: "real",
    what: "real mounts",
    work: { ...tests("real"), verbose: true, timeoutMs: 60_000 },
    limitMinutes: 25,
    fullMinutes: 30,
  },
  {
    name: "random",
    what: "random operations, swapped paths and killed agents on the real kernel",
    work: { ...tests("random"), verbose: true, timeoutMs: 60_000 },
    limitMinutes: 15,
    fullMinutes: 300,
  },
  {
    name: "tools",
    what: "etcd, kube-apiserver, kubectl, toxiproxy, helm and kube-score, built if the cache has none",
    work: { kind: "command", command: ["node", "hack/tools.ts"] },
    limitMinutes: 40,
  },
  {
    name: "csi-tools",
    what: "drivers, sidecars and kube-controller-manager, built if the cache has none",
    work: { kind: "command", command: ["node", "hack/tools.ts", "--csi"] },
    limitMinutes: 90,
  },
  {
    name: "csi",
    what: "real CSI drivers and sidecars",
    work: { ...tests("csi"), verbose: true, timeoutMs: 120_000 },
    beside: "waits",
    limitMinutes: 40,
    fullMinutes: 180,
  },
  {
    name: "cluster",
    what: "a real API server, controller, agents and mounts",
    work: { ...tests("cluster"), verbose: true, timeoutMs: 120_000 },
    limitMinutes: 40,
    fullMinutes: 180,
  },
  {
    name: "e2e-tools",
    what: "kubelet, scheduler, containerd and runc, built if the cache has none",
    work: { kind: "command", command: ["node", "hack/tools.ts", "--e2e"] },
    limitMinutes: 60,
  },
  {
    name: "e2e",
    what: "a real kubelet and its pods",
    work: { ...tests("e2e"), verbose: true, timeoutMs: 120_000 },
    limitMinutes: 20,
    fullMinutes: 120,
  },
  {
    name: "install",
    what: "the image from the Dockerfile, installed, upgraded and removed on a real kubelet",
    work: { ...tests("install"), verbose: true, timeoutMs: 120_000 },
    limitMinutes: 20,
    fullMinutes: 60,
  },
];

/** Minutes that a lane has, with --full or without. */
export function minutesOf({ limitMinutes, fullMinutes = limitMinutes }: Lane, full: boolean): number {
  return full ? fullMinutes : limitMinutes;
}
