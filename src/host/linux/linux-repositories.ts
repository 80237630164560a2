import { VolumeError } from "../../errors.ts";
import type { OperationContext } from "../ports.ts";
import type { CheckOutRequest, Repositories } from "../repositories.ts";
import type { ChildReply } from "./child-main.ts";
import type { ChildRunner } from "./child-runner.ts";

/** Stands before what a child says of how far it is. */
export const progressMark = "> ";

/** git in a disposable child, which is given up when it gets no further for a deadline. */
export class LinuxRepositories implements Repositories {
  readonly #runner: Pick<ChildRunner, "run">;
  readonly #operation: OperationContext;

  constructor(runner: Pick<ChildRunner, "run">, operation: OperationContext) {
    this.#runner = runner;
    this.#operation = operation;
  }

  async checkOut(request: CheckOutRequest, onProgress: (message: string) => void): Promise<void> {
    const onLine = (line: string) => {
      if (line.startsWith(progressMark)) onProgress(line.slice(progressMark.length));
    };
    const work = { kind: "checkOut", request, agent: process.pid } as const;
    const result = await this.#runner.run(work, this.#operation, { onLine, writesWhileWell: true });
    const said = result.stdout.slice(result.stdout.lastIndexOf("\n") + 1);
    if (result.code !== 0 || said === "") {
      const message = `a child process ended with ${result.code}: ${result.stderr.trim().slice(-512)}`;
      throw new VolumeError("SetUpFailed", "uncertain", message);
    }
    const reply = JSON.parse(said) as ChildReply;
    if (reply.ok) return;
    const { reason = "SetUpFailed", errorClass = "transient", message } = reply.error;
    const options = reason === "ServerUnreachable" ? { on: { kind: "Server", name: hostOf(request.repository) } } : {};
    throw new VolumeError(reason, errorClass, message, options);
  }
}

function hostOf(repository: string): string {
  return URL.parse(repository)?.host ?? repository;
}
