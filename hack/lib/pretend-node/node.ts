// A pretended node: a Node object without a kubelet, and on this machine a "host" mount namespace in which everything
// is shared, with the agent in a namespace beneath it as the DaemonSet would put it. The kernel parts are real.

import { execFile, spawn } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { eachLine } from "../lines.ts";
import { pidOf } from "../pid-of.ts";
import { type RunningProcess, startProcess } from "../process.ts";
import { root } from "../root.ts";

const run = promisify(execFile);

/** Where things are on every pretended node. */
export const layout = {
  /** The allowed prefix of config/default. */
  defaultPrefix: "/var/lib/nodevolume/mounts",
  /** What config/components/prefix-mnt allows, too. */
  prefix: "/mnt/nodevolume",
  stateDir: "/tmp/nodevolume-node/state",
  /** What is /var/lib/kubelet on a real node: sockets, staging and publish paths of CSI. */
  kubeletDir: "/tmp/nodevolume-node/kubelet",
  /** Where the agent sees the root of the host, as /host in the DaemonSet. */
  hostRoot: "/tmp/nodevolume-node/host",
} as const;

/** Of each node, and shared with its agent. */
const ownDirectories = [layout.stateDir, layout.defaultPrefix, layout.prefix, layout.kubeletDir];

export interface PretendHost {
  readonly name: string;
  /** A process that does nothing but hold the host's mount namespace. */
  readonly pid: number;
  /** Runs a command on the host: in its mount namespace, not the agent's. @returns stdout */
  run(command: string, ...args: string[]): Promise<string>;
  /** The host's mount table, one line of mountinfo each. */
  mounts(): Promise<string[]>;
  /** Starts a program as the agent's container would be. */
  startAgent(command: readonly string[], logFile: string, env: NodeJS.ProcessEnv): RunningProcess;
  /** Starts a program of the node itself, in its mount namespace. */
  startOn(program: string, command: readonly string[], logFile: string, env: NodeJS.ProcessEnv): RunningProcess;
  /**
   * Starts a program in a mount namespace of its own, in which every mount is the host's too, and the other way
   * (Bidirectional).
   */
  startBeside(program: string, command: readonly string[], logFile: string, env: NodeJS.ProcessEnv): RunningProcess;
  /** Ends the host: its namespace and all mounts that only it had are gone. */
  stop(): Promise<void>;
}

/** Makes the host of a pretended node. Needs root, and only makes sense in a sandbox. */
export async function startPretendHost(name: string): Promise<PretendHost> {
  const script = join(root, "hack/lib/pretend-node/host.sh");
  const cover = [process.execPath, join(root, "hack/lib/sandbox/cover-main.ts")];
  const holder = spawn("unshare", ["--mount", "--propagation", "private", "sh", script, ...cover, ...ownDirectories], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const pid = pidOf(holder);
  const ended = new Promise<void>((resolve) => holder.on("exit", () => resolve()));
  let complaint = "";
  eachLine(holder.stderr, (line) => {
    complaint = line;
  });
  await new Promise<void>((resolve, reject) => {
    eachLine(holder.stdout, () => resolve());
    void ended.then(() => reject(new Error(`the mount namespace of ${name} could not be made: ${complaint}`)));
  });
  const namespace = `--mount=/proc/${pid}/ns/mnt`;
  return {
    name,
    pid,
    run: async (command, ...args) => (await run("nsenter", [namespace, "--", command, ...args])).stdout,
    mounts: async () => (await run("cat", [`/proc/${pid}/mountinfo`])).stdout.trimEnd().split("\n"),
    startAgent: (command, logFile, env) =>
      startProcess({
        name: `agent of ${name}`,
        command: "nsenter",
        args: [namespace, "--", "unshare", "--mount", "--propagation", "unchanged", "sh", ...agentScript(), ...command],
        logFile,
        env,
      }),
    startOn: (program, command, logFile, env) =>
      startProcess({
        name: `${program} of ${name}`,
        command: "nsenter",
        args: [namespace, "--", ...command],
        logFile,
        env,
      }),
    startBeside: (program, command, logFile, env) =>
      startProcess({
        name: `${program} of ${name}`,
        command: "nsenter",
        args: [namespace, "--", "unshare", "--mount", "--propagation", "unchanged", ...command],
        logFile,
        env,
      }),
    async stop() {
      holder.kill("SIGKILL");
      await ended;
    },
  };
}

function agentScript(): string[] {
  return [join(root, "hack/lib/pretend-node/agent.sh"), layout.hostRoot, ownDirectories.join(":")];
}
