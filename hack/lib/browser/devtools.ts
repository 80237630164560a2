import type { Readable, Writable } from "node:stream";

/** What the browser is asked, by its DevTools protocol, on two pipes: one JSON a message, with a NUL behind it. */
export interface DevTools {
  /** Rejects with the browser's words, or when it ends. */
  call(method: string, params?: object, sessionId?: string): Promise<{ readonly [key: string]: unknown }>;
  onEvent(
    handler: (method: string, params: { readonly [key: string]: unknown }, sessionId: string | undefined) => void,
  ): void;
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly [key: string]: unknown };
  readonly sessionId?: string;
  readonly result?: { readonly [key: string]: unknown };
  readonly error?: { readonly message: string };
}

export function devTools(input: Writable, output: Readable): DevTools {
  const waiting = new Map<
    number,
    { resolve: (result: { readonly [key: string]: unknown }) => void; reject: (error: Error) => void; method: string }
  >();
  const handlers: Parameters<DevTools["onEvent"]>[0][] = [];
  let serial = 0;
  let half = "";

  function take(text: string): void {
    const message = JSON.parse(text) as Message;
    if (message.id === undefined) {
      for (const handler of handlers) handler(message.method ?? "", message.params ?? {}, message.sessionId);
      return;
    }
    const asked = waiting.get(message.id);
    waiting.delete(message.id);
    if (message.error !== undefined) asked?.reject(new Error(`${asked.method}: ${message.error.message}`));
    else asked?.resolve(message.result ?? {});
  }

  output.setEncoding("utf8");
  output.on("data", (text: string) => {
    const parts = (half + text).split("\0");
    half = parts.pop() ?? "";
    for (const part of parts) take(part);
  });
  const ended = () => {
    for (const { reject, method } of waiting.values()) reject(new Error(`${method}: the browser has ended`));
    waiting.clear();
  };
  output.on("close", ended);
  input.on("error", ended);

  return {
    call(method, params = {}, sessionId) {
      serial += 1;
      const id = serial;
      return new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject, method });
        input.write(`${JSON.stringify({ id, method, params, ...(sessionId !== undefined && { sessionId }) })}\0`);
      });
    },
    onEvent: (handler) => void handlers.push(handler),
  };
}
