import type { System } from "../ports.ts";
import type { Cluster } from "./cluster.ts";
import type { Flag, FlagName, FlagValues } from "./flags.ts";
import type { Format } from "./output.ts";

/** Where a command writes. The answer goes to `out`, and nothing else does; what is said beside it goes to `note`. */
export interface Terminal {
  out(text: string): void;
  note(line: string): void;
}

/** What a command may use beside its arguments. */
export interface Context {
  readonly terminal: Terminal;
  readonly system: System;
  /** Of this program. */
  readonly version: string;
  /** The commit that this program was built from; "unknown" if that is not known. */
  readonly revision: string;
  /** Aborted by Ctrl-C. */
  readonly interrupted: AbortSignal;
  /** Rejects with CommandError if there is no usable kubeconfig; asks the cluster nothing. */
  connect(): Promise<Cluster>;
  /** The bytes of a file, or of standard input. */
  read(path: string | undefined): Promise<Uint8Array>;
  /** Runs kubectl here until it ends or Ctrl-C, for its exit code. Rejects with CommandError if there is no kubectl. */
  kubectl(args: readonly string[]): Promise<number>;
  /** Makes a file that only its owner reads. Rejects if there is one. */
  write(path: string, content: Uint8Array): Promise<void>;
}

/** One call of a command. */
export interface Call {
  readonly args: readonly string[];
  readonly values: FlagValues;
  readonly context: Context;
}

/** What one command is: the same table makes help, completion, the check of the command line, and the documentation. */
export interface Command {
  readonly name: string;
  /** As in help: NODE is needed, [NODE] is not. */
  readonly args: readonly string[];
  readonly summary: string;
  /** What it does beyond the summary, and how it ends. Lines of at most 100 characters. */
  readonly details: string;
  readonly flags: readonly FlagName[];
  readonly formats: readonly Format[];
  /** What a flag is here, where that is not what flags.ts says. */
  readonly meanings?: { readonly [name in FlagName]?: Flag };
  /** Without it: it asks nothing of the cluster. */
  readonly usesCluster: boolean;
  readonly examples: readonly string[];
  /** Known values of its arguments, for completion. */
  readonly words?: readonly string[];
  /** Not in help. */
  readonly hidden?: true;
  /** Resolves with the exit code. */
  run(call: Call): Promise<number>;
}
