import type { Answer, Connection } from "../../../src/csi/client/connection.ts";
import type { Cancel } from "../../../src/ports.ts";
import type { Incarnation } from "../incarnation.ts";
import type { Call, SimDriver } from "./sim-driver.ts";

const travel = { low: 0.1, high: 2 } as const;

/**
 * The channel of one agent process to one driver. What was sent arrives; what is answered arrives if the agent still
 * lives.
 */
export class SimConnection implements Connection {
  readonly #driver: SimDriver;
  readonly #incarnation: Incarnation;
  #closed = false;

  constructor(driver: SimDriver, incarnation: Incarnation) {
    this.#driver = driver;
    this.#incarnation = incarnation;
  }

  get generation(): number {
    return this.#driver.run;
  }

  ready(withinMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      this.#incarnation.later(travel, () => {
        if (this.#driver.up) {
          resolve(true);
          return;
        }
        let end = () => {};
        const cancel = this.#incarnation.system.timers.after(withinMs, () => {
          end();
          resolve(false);
        });
        end = this.onReturn(() => {
          cancel();
          resolve(true);
        });
      });
    });
  }

  call(method: string, request: Uint8Array, deadlineMs: number): Promise<Answer> {
    const driver = this.#driver;
    const incarnation = this.#incarnation;
    return new Promise((resolve) => {
      const call: Call = {
        method,
        request,
        deadlineMs,
        incarnation,
        answer: (answer) => {
          incarnation.later(travel, () => {
            cancel();
            resolve(answer);
          });
        },
      };
      const cancel = incarnation.system.timers.after(deadlineMs, () => {
        driver.givenUp(call);
        resolve({ kind: "status", code: "DEADLINE_EXCEEDED", text: "", spoken: false });
      });
      incarnation.later(travel, () => {
        if (driver.up && !this.#closed) {
          driver.take(call);
          return;
        }
        cancel();
        resolve({ kind: "unsent" });
      });
    });
  }

  onReturn(listener: () => void): Cancel {
    const driver = this.#driver;
    let told = false;
    const tell = () => {
      if (told || !driver.up || !this.#incarnation.alive) return;
      told = true;
      stop();
      listener();
    };
    const stop = driver.onChange(() => this.#incarnation.later(travel, tell));
    this.#incarnation.later(travel, tell);
    return () => {
      told = true;
      stop();
    };
  }

  close(): void {
    this.#closed = true;
  }
}
