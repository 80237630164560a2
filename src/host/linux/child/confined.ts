import { CLONE } from "../syscall/constants.ts";

/**
 * The user and group of programs that talk to untrusted servers: high above all that people give out (not 65534,
 * which is nobody in particular and therefore many), so that no process of the node is of the same user.
 */
export const sandboxUID = 2_147_480_000;

/** What a confined program may take at most: above that it fails, and the agent beside it does not. */
export interface ConfinedLimits {
  readonly memoryBytes: number;
  /** Of each file that it writes. */
  readonly fileBytes: number;
  /** Whether it may speak with anybody: without, it has a network of its own with nobody in it. */
  readonly network: boolean;
}

/** Namespaces that a confined program gets, as flags of unshare(2). */
export const ownNamespaces = CLONE.NEWPID | CLONE.NEWIPC | CLONE.NEWUTS | CLONE.NEWNET;

/** What it takes to confine a program, all of util-linux. */
export const confiners = ["setpriv", "unshare", "prlimit"] as const;

/**
 * PURE. A command with all that keeps it: it ends with whoever started it, has its own processes, no rights, and
 * cannot get any.
 * @param path of each of `confiners`
 */
export function confined(
  path: (program: (typeof confiners)[number]) => string,
  { memoryBytes, fileBytes, network }: ConfinedLimits,
  command: readonly string[],
): string[] {
  const id = `${sandboxUID}`;
  return [
    ...[path("setpriv"), "--pdeathsig", "KILL"],
    ...[path("prlimit"), `--fsize=${fileBytes}`, `--data=${memoryBytes}`, "--core=1", "--nofile=256"],
    ...[path("unshare"), "--pid", "--fork", "--kill-child", "--ipc", "--uts", ...(network ? [] : ["--net"])],
    ...[path("setpriv"), "--reuid", id, "--regid", id, "--clear-groups", "--no-new-privs"],
    // Again, as the kernel forgets it with the change of user: with its pid 1 go all of its processes.
    ...["--inh-caps=-all", "--bounding-set=-all", "--pdeathsig", "KILL", ...command],
  ];
}
