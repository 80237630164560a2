// The gRPC side of a driver for tests: each call is recorded, may meet a fault, and is answered.
import { chmodSync, rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type handleUnaryCall,
  type MethodDefinition,
  type Server,
  ServerCredentials,
  type UntypedServiceImplementation,
} from "@grpc/grpc-js";
import { type Code, codes, type FaultRule, type Faults } from "./faults.ts";
import type { Recorder } from "./record.ts";
import { lengthen, withMoreBytes } from "./unknown-field.ts";

/** A failure that the caller gets as a status. */
export class Refusal extends Error {
  readonly code: Code;

  constructor(code: Code, message: string) {
    super(message);
    this.code = code;
  }
}

/** One call on its way: what is done for it is recorded under its number. */
export interface Call {
  /** Does something that others can see, with a line before and one after it. */
  effect<T>(what: string, detail: object, action: () => T | Promise<T>): Promise<T>;
}

/** Answers one RPC. @throws Refusal */
type Handler = (request: never, call: Call) => object | Promise<object>;

/** Methods of the service by name; what is left out is UNIMPLEMENTED. */
export type Handlers = { readonly [method: string]: Handler };

type Definition = { readonly [method: string]: MethodDefinition<object, object> };

interface Trace {
  readonly recorder: Recorder;
  readonly faults: Faults;
}

let calls = 0;

export function addService(server: Server, definition: object, handlers: Handlers, trace: Trace): void {
  const methods: { [name: string]: object } = {};
  const implementation: UntypedServiceImplementation = {};
  for (const [name, method] of Object.entries(definition as Definition)) {
    methods[name] = { ...method, responseSerialize: withMoreBytes(method.responseSerialize) };
    const handler = handlers[name];
    const rpc = `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
    const empty = () => method.responseDeserialize(Buffer.alloc(0));
    if (handler !== undefined) implementation[name] = unary(rpc, handler, empty, trace);
  }
  server.addService(methods as never, implementation);
}

/** Listens on a unix socket; one that a killed driver left is removed. */
export async function listen(server: Server, socket: string): Promise<void> {
  rmSync(socket, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(`unix:${socket}`, ServerCredentials.createInsecure(), (error) =>
      error === null ? resolve() : reject(error),
    );
  });
  chmodSync(socket, 0o600);
}

function unary(rpc: string, handler: Handler, empty: () => object, trace: Trace): handleUnaryCall<object, object> {
  const { recorder, faults } = trace;
  return async ({ request }, answer) => {
    calls += 1;
    const number = calls;
    const volume = volumeOf(request);
    const write: Write = (kind, what, detail) => {
      const about = volume ?? volumeOf(detail);
      recorder.write({ call: number, kind, what, ...(about && { volume: about }), ...(detail && { detail }) });
    };
    write("call", rpc, request);
    const rule = faults.take(rpc, volume);
    if (rule !== undefined) write("fault", rpc, rule.fault);
    try {
      await meet("before", rule);
      const lies = rule?.fault.kind === "lie";
      const response = lies ? empty() : await handler(request as never, { effect: effects(write) });
      await meet("after", rule);
      write("reply", rpc);
      if (rule?.fault.kind === "huge") lengthen(response, rule.fault.bytes);
      answer(null, response);
    } catch (error) {
      if (error instanceof Silence) return;
      const code = error instanceof Refusal ? error.code : "INTERNAL";
      const details = (error as Error).message;
      write("reply", rpc, { code, details: details.slice(0, 1000) });
      answer({ code: codes[code], details });
    }
  };
}

class Silence extends Error {}

/** Milliseconds between two looks at whether a rule that holds a call is gone. */
const look = 10;

async function meet(when: "before" | "after", rule: (FaultRule & { stands(): boolean }) | undefined): Promise<void> {
  const fault = rule?.fault;
  if (rule === undefined || fault === undefined || !("when" in fault) || fault.when !== when) return;
  if (fault.kind === "code") throw new Refusal(fault.code, fault.message ?? `ordered by the test: ${fault.code}`);
  if (fault.kind === "silence") throw new Silence();
  if (fault.kind === "delay") await sleep(fault.ms);
  else while (rule.stands()) await sleep(look);
}

type Write = (kind: "call" | "begin" | "end" | "failed" | "fault" | "reply", what: string, detail?: object) => void;

function effects(write: Write): Call["effect"] {
  return async (what, detail, action) => {
    write("begin", what, detail);
    try {
      const result = await action();
      write("end", what, detail);
      return result;
    } catch (error) {
      write("failed", what, { ...detail, error: (error as Error).message.slice(0, 1000) });
      throw error;
    }
  };
}

/** Of a request, or of an effect's details. */
function volumeOf(about: { volumeId?: string; id?: string } | undefined): string | undefined {
  return about?.volumeId || about?.id || undefined;
}
