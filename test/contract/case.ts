import { readdirSync } from "node:fs";
import { expect } from "chai";
import type { VolumeSource } from "../../src/api/types.gen.ts";
import type { Requirement } from "../lib/asserts/requirements.ts";
import type { NodeOptions } from "../lib/kernel/node-options.ts";
import type { RealNode } from "../lib/kernel/real-node.ts";

/**
 * One volume of a plugin, and how to tell that its targets show it. What is optional is so because a plugin may not
 * have it.
 */
export interface Case {
  readonly title: string;
  readonly needs?: readonly Requirement[];
  /** Its source stands in no CRD: the example of docs/plugin-guide.md. */
  readonly withoutSchema?: true;
  /** Starts what all tests of the case share, or skips them. */
  open?(context: Mocha.Context): Promise<AsyncDisposable>;
  /** Another node than the usual one. */
  node?(options: NodeOptions): RealNode;
  /** Prepares the node. */
  source(node: RealNode): VolumeSource | Promise<VolumeSource>;
  readonly spec?: {
    readonly fsType?: "ext4" | "xfs";
    readonly mountOptions?: string[];
    readonly volumeMode?: "Filesystem" | "Block";
  };
  /** What targets are: directories if not given, else files, or block devices, which are bound as they are. */
  readonly kind?: "file" | "device";
  /** Fails unless `path` shows the volume. */
  shows(path: string): void;
  /** Fails unless what was made beside mounts is gone. */
  isGone?(node: RealNode): void;
  /** Whether data that is written to a target outlives the volume. */
  readonly keepsData: boolean;
  /** What is written to see whether it lasts: a file if not given; a directory, where the kernel takes no write(2). */
  readonly written?: "directory";
  readonly readOnly?: boolean;
  /**
   * A few ends of the agent are enough, or so many: another case has it end after each effect, or there are too many
   * slow ones.
   */
  readonly cutOffs?: "some" | number;
  /** Points, by name, that are asked only with --full: in the VM each second costs several. */
  readonly onlyFull?: readonly string[];
  /** What the kernel's mount table must say of each target beside flags of the mount. */
  readonly table?: TableEvidence;
  /** The options of `spec` in other words, which are to mean no change; the same, the other way round, if not given. */
  readonly sameOptions?: readonly string[];
  /** Values of Secrets that `source` has handed over; a function, if they are made with what `open` starts. */
  readonly secrets?: readonly string[] | (() => readonly string[]);
  /**
   * Makes what the volume comes from refuse it, as with a wrong password.
   * @returns values of Secrets that are new with it
   */
  refuses?(node: RealNode): readonly string[] | Promise<readonly string[]>;
  /** The program that gets Secrets where others of the node might see them, as docs/security.md says. */
  readonly secretsToldTo?: { readonly program: string; readonly by: "arguments" | "environment" };
  /** How it grows while it is mounted. */
  readonly grows?: Growth;
  /**
   * Client and server that it is tested with, for docs/plugin-results.md, if it has any. Asked once the case is open.
   */
  parts?(): Parts;
}

interface TableEvidence {
  readonly fsType: string;
  readonly source?: RegExp;
  /** Among the options of the file system, as the kernel writes them. */
  readonly options?: readonly (string | RegExp)[];
}

interface Growth {
  /** `capacity` of the spec before and after. */
  readonly from: string;
  readonly to: string;
  /** Makes room outside, as an administrator or a storage system does, before the spec is changed. */
  prepare?(node: RealNode): void;
  /** Bytes that a target has. */
  size(path: string): number;
}

/** By name and version, as the thing itself says it. */
export interface Parts {
  readonly client: string;
  readonly server?: string;
}

export function isEmptyOrToken(path: string): void {
  expect(readdirSync(path).filter((name) => name !== "token")).to.deep.equal([]);
}
