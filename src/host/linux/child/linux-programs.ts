import { constants, type Stats, statSync } from "node:fs";
import { VolumeError } from "../../../errors.ts";
import { mayBlock } from "../../mount-table/may-block.ts";
import type { Mounter, MountTableSource, OperationContext } from "../../ports/host-ports.ts";
import type { ProgramHow, ProgramResult, Programs } from "../../ports/programs.ts";
import { ifThere } from "../syscall/errno.ts";
import { runProgram } from "./child-reply.ts";
import type { ChildRunner } from "./child-runner.ts";
import { findProgram } from "./find-program.ts";

/** Where the node is, seen from the agent. */
export interface NodePlace {
  /** The node's root as the agent sees it. */
  readonly hostRoot: string;
  /** A process in the node's mount namespace, if the agent is not in it. */
  readonly nodeProcess: number | undefined;
}

/** Dependencies of running programs of the node. */
export interface ProgramsDeps {
  readonly table: MountTableSource;
  readonly mounter: Mounter;
  readonly runner: ChildRunner;
  readonly operation: OperationContext;
  readonly node: NodePlace;
}

/** Where drivers look for what they use, as kubelet's unit usually has it: they are the node's, and so are these. */
const path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** The node's programs, entered into its mount namespace by nsenter(1) where the agent is in another. */
export class LinuxPrograms implements Programs {
  readonly #deps: ProgramsDeps;

  constructor(deps: ProgramsDeps) {
    this.#deps = deps;
  }

  async identify(program: string): Promise<string | undefined> {
    const { table, mounter, node } = this.#deps;
    const info = await mounter.inspect({ root: node.hostRoot, path: program });
    if (info?.kind !== "file") return undefined;
    // What it is there cannot be asked without waiting for somebody, perhaps: by its path then.
    if (mayBlock(await table.read(), info.canonicalPath)) return info.canonicalPath;
    const stats = ifThere(() => statSync(info.canonicalPath));
    return stats === undefined || !isExecutable(stats) ? undefined : identityOf(info.canonicalPath, stats);
  }

  async run(program: string, args: readonly string[], how: ProgramHow = {}): Promise<ProgramResult> {
    const { runner, operation } = this.#deps;
    const { input, device, heavy, long } = how;
    const { hostRoot } = this.#deps.node;
    const [file = program, ...rest] = [...this.#entering(program), program, ...args];
    const waitsFor = { fsType: "program", source: args[0] ?? "", point: program, program: true };
    const beside = {
      ...(input && { input: Buffer.from(input).toString("base64") }),
      ...(device && { device }),
      ...(long && { long }),
      ...(heavy && { heavy, ...(hostRoot !== "/" && { outlives: { hostRoot } }) }),
    };
    const on = device && { kind: "Device", name: device.path };
    return runProgram(runner, { kind: "exec", file, args: rest, path, ...beside }, operation, { waitsFor, on });
  }

  #entering(program: string): string[] {
    const { hostRoot, nodeProcess } = this.#deps.node;
    if (nodeProcess !== undefined) {
      const of = (namespace: string) => `/proc/${nodeProcess}/ns/${namespace}`;
      // Of IPC, too: by its semaphores device-mapper hears that udev has made a device's links, and waits for ever in
      // another.
      return [findProgram("nsenter"), `--mount=${of("mnt")}`, `--ipc=${of("ipc")}`, "--"];
    }
    if (hostRoot === "/") return [];
    const message = `${program} is a program of the node, and the agent sees no process of it to enter its mount namespace by: run the agent with hostPID, and --host-pid 1`;
    throw new VolumeError("ToolMissing", "final", message);
  }
}

function isExecutable({ mode }: Stats): boolean {
  return (mode & (constants.S_IXUSR | constants.S_IXGRP | constants.S_IXOTH)) !== 0;
}

/** A file that is replaced has another inode; one that is written over has another time of change. */
function identityOf(canonicalPath: string, { dev, ino, ctimeMs, size }: Stats): string {
  return `${canonicalPath} ${dev} ${ino} ${ctimeMs} ${size}`;
}
