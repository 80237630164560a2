import { type CSIDriverObject, tokensStandInContext, wrongFields } from "../../api/driver-object.ts";
import { podDriver } from "../../api/names.ts";
import { messageOf } from "../../errors.ts";
import type { Cancel, System } from "../../ports.ts";
import { RefusedCall } from "./refused-call.ts";

/** Milliseconds between reads of the object; half as many again at most. */
const rereadMs = 5 * 60_000;

const remedy = "apply your kustomization again; fields that cannot be changed need the object deleted before";

/** Dependencies of checking the CSIDriver object of csi.nodevolume.dev. */
export interface DriverObjectStateDeps {
  readonly system: System;
  /** The CSIDriver object of ours; undefined if there is none. */
  read(): Promise<CSIDriverObject | undefined>;
}

/** Whether our own CSIDriver object lets us publish. The last answer stays while the API server gives none. */
export class DriverObjectState {
  readonly #deps: DriverObjectStateDeps;
  /** Undefined before the first answer. */
  #answer: { readonly problem: string | undefined; readonly tokensInContext: boolean } | undefined;
  #unread = "it was not read yet";
  #reading: Promise<void> | undefined;
  #again: Cancel = () => {};
  #stopped = false;

  constructor(deps: DriverObjectStateDeps) {
    this.#deps = deps;
  }

  start(): this {
    void this.#read();
    return this;
  }

  stop(): void {
    this.#stopped = true;
    this.#again();
  }

  /** @throws RefusedCall if the object is not as it must be, after another look */
  async mayPublish(): Promise<void> {
    if (this.#answer === undefined || this.#answer.problem !== undefined) await this.#read();
    if (this.#answer === undefined) {
      const why = `CSIDriverWrong: whether the CSIDriver is as it must be is not known: ${this.#unread}`;
      throw new RefusedCall("UNAVAILABLE", why);
    }
    const { problem } = this.#answer;
    if (problem !== undefined) throw new RefusedCall("FAILED_PRECONDITION", `CSIDriverWrong: ${problem}`);
  }

  /** Whether tokens in a volume context are kubelet's; where the object does not say so, after another look. */
  async tokensInContext(): Promise<boolean> {
    if (this.#answer?.tokensInContext !== true) await this.#read();
    return this.#answer?.tokensInContext === true;
  }

  /** One read at a time, for all who ask. */
  #read(): Promise<void> {
    this.#reading ??= this.#readOnce().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #readOnce(): Promise<void> {
    const { timers, random, log } = this.#deps.system;
    this.#again();
    try {
      const object = await this.#deps.read();
      const problem = driverObjectProblem(object);
      if (problem !== undefined && problem !== this.#answer?.problem) log.warn(problem, { reason: "CSIDriverWrong" });
      if (problem === undefined && this.#answer?.problem !== undefined) log.info("the CSIDriver is as it must be");
      this.#answer = { problem, tokensInContext: tokensStandInContext(object) };
    } catch (error) {
      this.#unread = messageOf(error);
    }
    if (this.#stopped) return;
    this.#again = timers.after(rereadMs * (1 + random.next() / 2), () => void this.#read());
  }
}

/**
 * PURE. Why kubelet does not call us as it must; undefined if it does.
 * @param object as the API server has it; undefined if there is none
 */
export function driverObjectProblem(object: CSIDriverObject | undefined): string | undefined {
  if (object === undefined) return `there is no CSIDriver ${podDriver}: ${remedy}`;
  const wrong = wrongFields(object);
  return wrong.length === 0 ? undefined : `the CSIDriver ${podDriver} is changed: ${wrong.join(", ")}; ${remedy}`;
}
