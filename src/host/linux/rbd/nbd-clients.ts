import { readdirSync, readFileSync } from "node:fs";
import type { ChildProcessID } from "../../ports/types.ts";
import type { NBDClientQuery } from "../child/child-protocol.ts";
import { enterNodesCgroups } from "../child/leave-cgroup.ts";
import { isInOtherPod } from "../child/pod-cgroups.ts";
import { processOfRoot, type Sought } from "../child/processes.ts";
import { ifThere, unlessGone } from "../syscall/errno.ts";
import type { Libc } from "../syscall/libc.ts";
import type { SandboxCalls } from "../syscall/sandbox-calls.ts";

/** Also the name that the kernel gives its processes. */
export const nbdProgram = "rbd-nbd";

/** Where the kernel tells of processes, and of disks. */
const kernel = { proc: "/proc", disks: "/sys/block" } as const;
type Kernel = { readonly [what in keyof typeof kernel]: string };

/** To be asked in a child (processOfRoot). */
export function nbdClientOnNode(
  query: NBDClientQuery,
  libc: Libc,
  calls: Pick<SandboxCalls, "setns">,
): ChildProcessID | undefined {
  // Who cannot enter them is told of each cgroup where it is from here, and takes all but its own for those of pods.
  if (query.hostRoot !== "/") ifThere(() => enterNodesCgroups(libc, calls, query.hostRoot));
  return nbdClient(query);
}

/**
 * The process that serves an image: the one that the kernel names with the device, as long as that is the one that made
 * it; else the youngest, as who has started it ends before it.
 */
export function nbdClient(
  { cookie, disk }: Pick<NBDClientQuery, "cookie" | "disk">,
  { proc, disks }: Kernel = kernel,
): ChildProcessID | undefined {
  const own = readFileSync(`${proc}/self/cgroup`, "utf8");
  const sought: Sought = {
    mayBe: (read) => read("comm").trim() === nbdProgram && !isInOtherPod(read("cgroup"), own),
    has: (args) => args.includes(`--cookie=${cookie}`),
  };
  const look = (pid: string) => processOfRoot(Number(pid), sought, proc);
  const maker = disk === undefined ? undefined : unlessGone(() => readFileSync(`${disks}/${disk}/pid`, "latin1"));
  const named = maker === undefined ? undefined : look(maker.trim());
  if (named !== undefined) return named;
  const pids = readdirSync(proc).filter((name) => /^\d+$/.test(name));
  const clients = pids.flatMap((pid) => look(pid) ?? []);
  return clients.sort((a, b) => b.startTime - a.startTime || b.pid - a.pid)[0];
}
