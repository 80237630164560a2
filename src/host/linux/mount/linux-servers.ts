import { messageOf } from "../../../errors.ts";
import type { Timers } from "../../../ports.ts";
import type { FileSystemErrors, RemoteMount, ServerAnswer, Servers } from "../../ports/servers.ts";
import { findProgram } from "../child/find-program.ts";
import { SpawnedProcess } from "../child/spawned-process.ts";
import { diskAnswer, ext4Errors } from "../device/disk-state.ts";

/** stat(1) asks, and not a child of ours: it is there within 2 ms, where Node takes 50. */
const program = "stat";
/** What the questions are said not to have been: an answer that could not be had at all tells nothing of the server. */
const answered: ServerAnswer = { answers: true };

/**
 * The probe of each file system type. The kernel's Ceph client answers statfs(2) from a monitor, which shows nothing
 * about the MDS, without which no file can be opened: so the root is looked up anew, whatever the kernel has cached.
 */
const questions: { readonly [fsType: string]: readonly string[] } = { ceph: ["--cached=never", "--format=%h"] };
const usualQuestion: readonly string[] = ["--file-system", "--format=%T"];

/** Asks by stat(1), for the file system (-f) unless it has a question of its own. */
export class LinuxServers implements Servers {
  readonly #timers: Timers;
  readonly #asking = new Map<string, SpawnedProcess>();

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  async ask({ fsType, point }: RemoteMount, deadlineMs: number): Promise<ServerAnswer> {
    if (this.#asking.has(point)) return { answers: false };
    let asking: SpawnedProcess;
    try {
      const args = [...(questions[fsType] ?? usualQuestion), "--", point];
      asking = new SpawnedProcess({ file: findProgram(program), args, env: ["LC_ALL=C"] });
    } catch {
      return answered; // no process, no program: whoever sets the next volume up says so
    }
    this.#asking.set(point, asking);
    let text = "";
    asking.stderr.setEncoding("utf8").on("data", (part: string) => {
      text = (text + part).slice(-512);
    });
    const ended = asking.ended.then(
      ({ code }): ServerAnswer => (code === 0 || isOld(text) ? answered : { answers: false, ...saidIn(text) }),
      (error: unknown): ServerAnswer => ({ answers: false, said: messageOf(error) }),
    );
    void ended.then(() => this.#asking.delete(point));
    const { promise: late, resolve } = Promise.withResolvers<ServerAnswer>();
    const cancel = this.#timers.after(deadlineMs, () => resolve({ answers: false }));
    const answer = await Promise.race([ended, late]);
    cancel();
    this.giveUp(point);
    return answer;
  }

  disk(deviceNumber: string): ServerAnswer {
    return diskAnswer("/sys", deviceNumber);
  }

  errors(deviceNumber: string): FileSystemErrors | undefined {
    return ext4Errors("/sys", deviceNumber);
  }

  giveUp(point: string): void {
    this.#asking.get(point)?.kill("SIGKILL"); // ended already: nothing happens
  }
}

/** A stat(1) of before coreutils 8.32 knows the question not. */
function isOld(text: string): boolean {
  return text.includes("unrecognized option");
}

/** `Stale file handle` of `stat: cannot read file system information for '…': Stale file handle`. */
function saidIn(text: string): { said?: string } {
  const said = text.trim().split(": ").at(-1);
  return said ? { said } : {};
}
