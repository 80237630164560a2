import { existsSync, mkdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AT_FDCWD, CLONE_NEWCGROUP, O } from "../syscall/constants.ts";
import { Descriptor } from "../syscall/descriptor.ts";
import type { Libc } from "../syscall/libc.ts";
import type { SandboxCalls } from "../syscall/sandbox-calls.ts";
import { cgroupNextToPods, cgroupsIn } from "./pod-cgroups.ts";

/** Stands before why a program is ended with the agent's container. */
export const staysMark = "stays in the container: ";

/**
 * Puts this process into cgroups of the node, if it is in those of a pod: a container's processes are ended by its
 * cgroup, when it ends. Of a pod in the node's pid namespace nothing else ends them. What it becomes, and what that
 * starts, is the node's then.
 * @param hostRoot the node's root as this process sees it
 * @returns whether it was in a pod's
 * @throws Error where cgroups cannot be made, as with a /sys of the node that is read-only
 */
export function leavePod(libc: Libc, calls: Pick<SandboxCalls, "setns">, hostRoot: string): boolean {
  enterNodesCgroups(libc, calls, hostRoot);
  const mounted = join(hostRoot, "sys/fs/cgroup");
  let left = false;
  for (const { controllers, path } of cgroupsIn(readFileSync("/proc/self/cgroup", "utf8"))) {
    const beside = cgroupNextToPods(path);
    const top =
      controllers === "" && existsSync(`${mounted}/cgroup.controllers`)
        ? mounted
        : join(mounted, controllers || "unified");
    if (beside === undefined) continue;
    const folder = join(top, beside);
    mkdirSync(folder, { recursive: true });
    if (controllers !== "") inheritSets(folder);
    writeFileSync(`${folder}/cgroup.procs`, "0"); // whoever writes
    left = true;
  }
  return left;
}

/**
 * The agent is one of the last that the kernel ends when memory runs out. What it becomes here speaks with strangers,
 * and no limit of a container holds it: it is as any other program of the node.
 */
export function resetOOMScore(): void {
  const score = "/proc/self/oom_score_adj";
  if (Number(readFileSync(score, "latin1")) < 0) writeFileSync(score, "0");
}

/** From another cgroup namespace paths would be relative, and nobody may be moved out of it (nsdelegate). */
export function enterNodesCgroups(libc: Libc, { setns }: Pick<SandboxCalls, "setns">, hostRoot: string): void {
  const nodes = join(hostRoot, "proc/1/ns/cgroup");
  if (readlinkSync(nodes) === readlinkSync("/proc/self/ns/cgroup")) return;
  using namespace = new Descriptor(libc.openat2(AT_FDCWD, nodes, O.RDONLY | O.CLOEXEC, 0, 0));
  setns(namespace.fd, CLONE_NEWCGROUP);
}

/** Of version 1: without them nothing can be put into a new one. */
function inheritSets(folder: string): void {
  for (const file of ["cpuset.cpus", "cpuset.mems"]) {
    const [own, above] = [join(folder, file), join(folder, "..", file)];
    if (existsSync(own) && readFileSync(own, "utf8").trim() === "") writeFileSync(own, readFileSync(above));
  }
}
