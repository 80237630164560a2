import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { type IntentInput, intent } from "../../hack/lib/agent-on-kernel/intent.ts";
import { silent } from "../../hack/lib/silent-log.ts";
import { PendingOperations } from "../../src/agent/executor/pending-operations.ts";
import { noProblems } from "../../src/agent/model/actual-volume.ts";
import { asVolumeName } from "../../src/agent/model/identities.ts";
import type { VolumePlan } from "../../src/agent/model/volume-plan.ts";
import type { NodeVolumeIntent, VolumeSource } from "../../src/api/types.gen.ts";
import { systemTimers } from "../../src/system.ts";
import type { NodeOptions } from "../lib/kernel/node-options.ts";
import { RealNode } from "../lib/kernel/real-node.ts";
import type { Case } from "./case.ts";

export const volumeName = asVolumeName("node.volume-1");
const token = "what was written";

/** A node with the volume of a case, and what is asked of it. */
export class Bench implements AsyncDisposable {
  readonly node: RealNode;
  readonly of: Case;
  readonly source: VolumeSource;
  /** File that is told of programs that children become, if they are recorded. */
  readonly programs: string;
  readonly #directory: string;
  #generation = 1;

  /** @param records whether programs that children become are recorded, which costs some time */
  static async on(of: Case, { records = false }: { readonly records?: boolean } = {}): Promise<Bench> {
    const directory = mkdtempSync(join(tmpdir(), "nvo-bench-"));
    const programs = join(directory, "programs");
    const node = Bench.#nodeOf(of, records ? { recordsPrograms: programs } : {});
    try {
      return new Bench(node, of, await of.source(node), directory);
    } catch (error) {
      await node[Symbol.asyncDispose]();
      throw error;
    }
  }

  static #nodeOf(of: Case, options: NodeOptions): RealNode {
    return of.node?.(options) ?? new RealNode(options);
  }

  private constructor(node: RealNode, of: Case, source: VolumeSource, directory: string) {
    this.node = node;
    this.of = of;
    this.source = source;
    this.#directory = directory;
    this.programs = join(directory, "programs");
  }

  /**
   * The two that each volume has: the second one is read-only, unless it is a device, which that would not keep from
   * being written.
   */
  get targets(): readonly [string, string] {
    return [this.node.target("rw"), this.node.target("deep/ro")];
  }

  /** The intent, each time of a new generation. */
  intent(more: Partial<IntentInput> = {}): NodeVolumeIntent {
    const [path, second] = this.targets;
    const { grows, spec, kind, withoutSchema } = this.of;
    const mounts = [{ path }, { path: second, readOnly: kind !== "device" }];
    const capacity = grows === undefined ? {} : { capacityBytes: grows.from };
    const made = intent({
      ...{
        name: volumeName,
        source: withoutSchema ? { emptyDir: {} } : this.source,
        ...spec,
        ...capacity,
        mounts,
        generation: ++this.#generation,
      },
      ...more,
    });
    return withoutSchema ? { ...made, spec: { ...made.spec, source: this.source } } : made;
  }

  /** Wants it, and everything is as it should be. */
  async setUp(more: Partial<IntentInput> = {}): Promise<void> {
    this.node.want(this.intent(more));
    this.node.forgetFailures();
    await this.isSetUp();
  }

  async isSetUp(): Promise<void> {
    const volume = await this.node.volume(volumeName);
    expect(volume.failure?.message).to.equal(undefined);
    expect(volume.problems).to.deep.equal(noProblems);
    this.shows();
  }

  /** Both targets, unless others are named. */
  shows(...paths: readonly string[]): void {
    for (const path of paths.length === 0 ? this.targets : paths) {
      expect(this.node.mountAt(path), `a mount on ${path}`).not.to.equal(undefined);
      this.of.shows(path);
    }
  }

  async release(): Promise<VolumePlan> {
    this.node.want(this.intent({ deleting: true }));
    this.node.forgetFailures();
    return this.node.volume(volumeName);
  }

  /** As an agent that starts: children of the one before that have ended are forgotten. */
  async settle(): Promise<void> {
    const { node } = this;
    const journal = await node.journal();
    const system = { timers: systemTimers, log: silent };
    await new PendingOperations({ system, journal, evidence: node.host.evidence }).settle();
  }

  /** Fails unless nothing of it is left on the node. */
  async isGone(): Promise<void> {
    const { node } = this;
    await node.host.directories.emptyTrash();
    expect(node.mounts()).to.deep.equal([]);
    for (const path of this.targets) expect(existsSync(path), path).to.equal(false);
    const left = ["data", "staging", "trash"].flatMap((name) => listIfThere(`${node.stateDir}/${name}`));
    expect(left).to.deep.equal([]);
    this.of.isGone?.(node);
  }

  /** Writes something to a target. */
  put(target: string): void {
    if (this.of.kind === undefined) {
      if (this.of.written !== "directory") {
        writeFileSync(`${target}/token`, token);
        return;
      }
      rmSync(`${target}/token`, { recursive: true, force: true });
      mkdirSync(`${target}/token`);
      mkdirSync(`${target}/token/${token}`);
      return;
    }
    const fd = openSync(target, "r+");
    try {
      writeSync(fd, token, 0);
    } finally {
      closeSync(fd);
    }
  }

  /** Fails unless what was written shows on a target. */
  hasToken(target: string, why = ""): void {
    if (this.of.written === "directory") {
      expect(readdirSync(`${target}/token`), why).to.deep.equal([token]);
      return;
    }
    if (this.of.kind === undefined) {
      expect(readFileSync(`${target}/token`, "utf8"), why).to.equal(token);
      return;
    }
    const bytes = Buffer.alloc(token.length);
    const fd = openSync(target, "r");
    readSync(fd, bytes);
    closeSync(fd);
    expect(bytes.toString(), why).to.equal(token);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.node[Symbol.asyncDispose]();
    rmSync(this.#directory, { recursive: true });
  }
}

function listIfThere(path: string): string[] {
  return existsSync(path) ? readdirSync(path) : [];
}
