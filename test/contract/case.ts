import { readdirSync } from "node:fs";
import { expect } from "chai";
import type { VolumeSource } from "../../src/api/types.gen.ts";
import type { RealNode } from "../lib/real-node.ts";
import type { Requirement } from "../lib/requirements.ts";

/** One volume of a plugin, and how to tell that its targets show it. */
export interface Case {
  readonly title: string;
  readonly needs?: readonly Requirement[];
  /** Starts what all tests of the case share, or skips them. */
  open?(context: Mocha.Context): Promise<AsyncDisposable>;
  /** Prepares the node. */
  source(node: RealNode): VolumeSource | Promise<VolumeSource>;
  readonly spec?: { readonly fsType?: "ext4" | "xfs"; readonly mountOptions?: string[] };
  /** Fails unless `path` shows the volume. */
  shows(path: string): void;
  /** Whether data that is written to a target outlives the volume. */
  readonly keepsData: boolean;
  readonly readOnly?: boolean;
}

export function isEmptyOrToken(path: string): void {
  expect(readdirSync(path).filter((name) => name !== "token")).to.deep.equal([]);
}
