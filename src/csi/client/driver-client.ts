import { cut } from "../../api/conditions.ts";
import { redact } from "../../api/values/redact.ts";
import { messageOf, VolumeError } from "../../errors.ts";
import { GetPluginInfoRequest, GetPluginInfoResponse } from "../gen/csi.gen.ts";
import type { Answer, Connection } from "./connection.ts";
import { isChanging, type Outcome, outcomeOf } from "./error-classes.ts";
import { encoded } from "./requests.ts";
import { codes, deadlineMs, type RPC } from "./rpc.ts";

/** Milliseconds for which a connection is waited for; kubelet's for sockets of plugins. */
const connectMs = 10_000;

const none: readonly string[] = [];

/** One call of a driver: the request, how its reply is read, and what no error or log line may contain. */
export interface RPCInput<T> {
  readonly rpc: Exclude<RPC, "GetPluginInfo">;
  /** An encoded message. */
  readonly request: Uint8Array;
  /** Reads the reply; throws if it is not what it should be. */
  read(bytes: Uint8Array): T;
  /** Texts that no error may repeat. */
  readonly secrets?: readonly string[];
}

/** Calls of one driver over its connection. Who answers is asked for its name first: a socket may change hands. */
export class DriverClient {
  readonly #name: string;
  readonly #connection: Connection;
  readonly #identity: OnceAConnection<void>;
  readonly #onReturn: () => void;
  #listening = false;

  /** @param onReturn called when there is a connection again, after a call had found nobody */
  constructor(name: string, connection: Connection, onReturn: () => void = () => {}) {
    this.#name = name;
    this.#connection = connection;
    this.#onReturn = onReturn;
    this.#identity = new OnceAConnection(connection, () => this.#identify());
  }

  /** Resolves if there is a connection, and what answers has the driver's name. Rejects with VolumeError. */
  async checkName(rpc: RPC = "GetPluginInfo"): Promise<void> {
    if (!(await this.#connection.ready(connectMs))) throw this.#unsent(rpc);
    await this.#identity.get();
  }

  /** Rejects with VolumeError. */
  async call<T>({ rpc, request, read, secrets = none }: RPCInput<T>): Promise<T> {
    await this.checkName(rpc);
    const answer = await this.#connection.call(`/csi.v1.Node/${rpc}`, request, deadlineMs[rpc]);
    return this.#take(rpc, answer, read, secrets);
  }

  async #identify(): Promise<void> {
    const rpc = "GetPluginInfo";
    const request = encoded(GetPluginInfoRequest, {});
    const answer = await this.#connection.call(`/csi.v1.Identity/${rpc}`, request, deadlineMs[rpc]);
    const { name } = this.#take(rpc, answer, (bytes) => GetPluginInfoResponse.decode(bytes), none);
    if (name !== this.#name) throw this.#invalid(rpc, "another driver answers, which calls itself", name, none);
  }

  #take<T>(rpc: RPC, answer: Answer, read: (bytes: Uint8Array) => T, secrets: readonly string[]): T {
    switch (answer.kind) {
      case "unsent":
        throw this.#unsent(rpc);
      case "reply":
        return this.#read(rpc, answer.bytes, read, secrets);
      case "status": {
        const { code, text, spoken } = answer;
        if (!spoken && (code === "UNAVAILABLE" || code === "CANCELLED")) this.#listenForReturn();
        const outcome = outcomeOf(rpc, code, spoken);
        // Answers that mean "done" without OK belong to calls whose reply has nothing in it: an empty message.
        if (outcome === "done") return read(new Uint8Array());
        const what = code ?? `a status that is none of gRPC's ${codes.length}`;
        throw driverError({ driver: this.#name, rpc, outcome, what, text, secrets });
      }
    }
  }

  #read<T>(rpc: RPC, bytes: Uint8Array, read: (bytes: Uint8Array) => T, secrets: readonly string[]): T {
    try {
      return read(bytes);
    } catch (error) {
      throw this.#invalid(rpc, "the reply is not what CSI requires", messageOf(error), secrets);
    }
  }

  #unsent(rpc: RPC): VolumeError {
    this.#listenForReturn();
    const outcome = { errorClass: "transient", reason: "DriverUnavailable" } as const;
    const what = "nobody answers on its socket";
    return driverError({ driver: this.#name, rpc, outcome, what, text: "", secrets: none });
  }

  #invalid(rpc: RPC, what: string, text: string, secrets: readonly string[]): VolumeError {
    const errorClass = isChanging(rpc) ? "uncertain" : "transient";
    const outcome = { errorClass, reason: "DriverReplyInvalid" } as const;
    return driverError({ driver: this.#name, rpc, outcome, what, text, secrets });
  }

  #listenForReturn(): void {
    if (this.#listening) return;
    this.#listening = true;
    this.#connection.onReturn(() => {
      this.#listening = false;
      this.#onReturn();
    });
  }
}

/** Longest message in characters: a status contains others as well. */
const longestMessage = 1024;

/** How a call of a driver failed, before it becomes a VolumeError. */
interface FailedCall {
  readonly driver: string;
  readonly rpc: RPC;
  readonly outcome: Exclude<Outcome, "done">;
  /** gRPC's name of the status, or what else went wrong. */
  readonly what: string;
  /** The driver's own words, if there are any. */
  readonly text: string;
  /** Texts that must not be in the message. */
  readonly secrets: readonly string[];
}

/**
 * PURE. What a user reads. It has no cause: the error that the gRPC library made has the driver's text as it came, with
 * whatever secret the driver has put there.
 */
export function driverError({ driver, rpc, outcome, what, text, secrets }: FailedCall): VolumeError {
  const said = redact(text, secrets).trim();
  const message = cut(`driver ${driver}: ${rpc}: ${what}${said === "" ? "" : `: ${said}`}`, longestMessage);
  return new VolumeError(outcome.reason, outcome.errorClass, message, { on: { kind: "CSIDriver", name: driver } });
}

/** The answer to a question, kept for as long as the connection on which it was asked; a failure is not kept. */
export class OnceAConnection<T> {
  readonly #connection: Pick<Connection, "generation">;
  readonly #ask: () => Promise<T>;
  #kept: { readonly generation: number; readonly answer: Promise<T> } | undefined;

  constructor(connection: Pick<Connection, "generation">, ask: () => Promise<T>) {
    this.#connection = connection;
    this.#ask = ask;
  }

  /** To be called while there is a connection. */
  get(): Promise<T> {
    const { generation } = this.#connection;
    if (this.#kept?.generation === generation) return this.#kept.answer;
    const asked = { generation, answer: this.#ask() };
    this.#kept = asked;
    asked.answer.catch(() => {
      if (this.#kept === asked) this.#kept = undefined;
    });
    return asked.answer;
  }
}
