import { fileURLToPath } from "node:url";
import type { ChildRequest } from "../../../src/host/linux/child/child-protocol.ts";
import type { ChildResult } from "../../../src/host/linux/child/child-runner.ts";
import type { Randomly } from "../builders/randomly.ts";
import { type Disk, numberOf } from "./disk.ts";
import type { Ending } from "./focus.ts";

const fakeCutOffMkfs = fileURLToPath(new URL("fake-cut-off-mkfs.ts", import.meta.url));

/** How a child is run: for as long at most, if that is not what the agent says. */
type Run = (request: ChildRequest, how: { readonly deadlineMs?: number }) => Promise<ChildResult>;

interface EndingsOf {
  readonly randomly: Randomly;
  readonly disks: () => readonly Disk[];
  readonly count: (what: string) => void;
  /** What becomes of most mkfs, if that is not left to chance. */
  readonly most?: Ending | undefined;
  /** All come to their end. */
  readonly none: boolean;
}

/** How the mkfs of a world end: one is cut off now and then, or ends by itself. */
export class MkfsEndings {
  /** Whether so many are cut off that some are again, if the agent tries often enough. */
  readonly often: boolean;
  readonly #of: EndingsOf;
  /** In ten mkfs, those that come to each of these ends. */
  readonly #chances: { readonly [ending in Ending]: number };
  /** The device on which the agent makes a file system now (DeviceInfo.identity). */
  #at: string | undefined;

  constructor(of: EndingsOf) {
    this.#of = of;
    this.often = of.randomly.below(4) === 0;
    this.#chances = { ends: 1, killed: 1, halfway: this.often ? 6 : 2, ...(of.most && { [of.most]: 5 }) };
  }

  /** While the agent makes a file system. */
  async during(identity: string | undefined, format: () => Promise<void>): Promise<void> {
    this.#at = identity;
    try {
      await format();
    } finally {
      this.#at = undefined;
    }
  }

  /** Runs a child of the agent, or what an mkfs is replaced by. */
  async run(request: ChildRequest, run: Run): Promise<ChildResult> {
    if (request.kind !== "format") return run(request, {});
    const disk = this.#of.disks().find(({ device }) => numberOf(device) === request.device.deviceNumber);
    if (disk === undefined) return run(request, {});
    const ending = this.#anyEnding();
    if (ending === "ends") {
      this.#of.count("mkfs ends by itself");
      return { code: 1, stdout: "", stderr: "it ended by itself" };
    }
    // What was killed before it could tell that somebody has written there since it was read has leave to go on: no end
    // of ours then.
    if (ending === undefined || (ending === "killed" && disk.read.changes !== disk.changes))
      return this.#noteEnd(disk, undefined, run(request, {}));
    const { randomly } = this.#of;
    if (ending === "killed") return this.#noteEnd(disk, ending, run(request, { deadlineMs: 20 + randomly.below(80) }));
    const args = [fakeCutOffMkfs, `${randomly.below(2 ** 31)}`, `${disk.end - disk.begin}`, request.file];
    const halfway = { ...request, file: process.execPath, args: [...args, ...request.args] };
    return this.#noteEnd(disk, ending, run(halfway, {}));
  }

  /**
   * Whether what is written to the disk now is known to be somebody's.
   * @param licences of the agent's journal (JournalRecord.formatting)
   */
  isRestKnown({ device, cutOff, leaveEnded }: Disk, licences: readonly string[]): boolean {
    const number = `${numberOf(device)}, `;
    // What it makes a file system on it has read, and compares what stands there with that.
    if (cutOff === undefined || leaveEnded || this.#at?.startsWith(number) === true) return true;
    return licences.filter((licence) => licence.startsWith(number)).every((licence) => licence.includes(", rest "));
  }

  /** What is refused has written nothing, and what ends well has left no rest. */
  async #noteEnd(
    disk: Disk,
    ending: "killed" | "halfway" | undefined,
    running: Promise<ChildResult>,
  ): Promise<ChildResult> {
    try {
      const result = await running;
      if (result.code === 0) disk.cutOff = undefined;
      return result;
    } catch (error) {
      [disk.cutOff, disk.leaveEnded] = [ending, false];
      if (ending !== undefined) this.#of.count("mkfs is cut off");
      throw error;
    }
  }

  #anyEnding(): Ending | undefined {
    if (this.#of.none) return undefined;
    const { ends, killed, halfway } = this.#chances;
    const chance = this.#of.randomly.below(10);
    if (chance < ends) return "ends";
    if (chance < ends + killed) return "killed";
    return chance < ends + killed + halfway ? "halfway" : undefined;
  }
}
