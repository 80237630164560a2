import { messageOf } from "../../errors.ts";
import type { Cancel, Yielder } from "../../ports.ts";
import { ApiError, apiErrorOf, isExpired } from "../client/api-error.ts";
import type { ApiRequest, StreamHandlers, Transport } from "../client/transport.ts";
import { createInOrder } from "./in-order.ts";
import type { WatchEvent } from "./watch-event.ts";
import { parseWatchEvent } from "./watch-event.ts";

/** Why a watch is over, whatever way the server or the network said so. */
export interface WatchEnd {
  /**
   * closed: the server's time limit. expired: the resourceVersion is too old (410). refused: the server does not take
   * these parameters. failed: everything else.
   */
  readonly kind: "closed" | "expired" | "refused" | "failed";
  readonly message: string;
  /** How long the server asks to be left alone. */
  readonly retryAfterMs?: number;
}

/** What a watch shows. */
export type WatchChange = Exclude<WatchEvent, { type: "ERROR" }>;

/** Callbacks for the changes of a watch. */
export interface WatchHandlers {
  onOpen(): void;
  /** @returns when it is taken in, if that takes more than this turn: what comes meanwhile waits for it */
  onEvent(event: WatchChange): Promise<void> | undefined;
  /** Called once, after which nothing is called. */
  onEnd(end: WatchEnd): void;
}

/** Opens a watch as typed events. After cancel nothing is called. */
export function openWatch(
  transport: Transport,
  yielder: Yielder,
  request: ApiRequest,
  handlers: WatchHandlers,
): Cancel {
  const inOrder = createInOrder(yielder);
  let done = false;
  let cancelStream: Cancel = () => {};

  const finish = (end: WatchEnd) => {
    if (done) return;
    done = true;
    cancelStream();
    handlers.onEnd(end);
  };

  function receive(raw: unknown): void {
    if (done) return;
    const event = parseWatchEvent(raw);
    if (event === undefined) finish({ kind: "failed", message: "a line is not a watch event" });
    else if (event.type === "ERROR") finish(endOf(event.status, event));
    else {
      const failed = (error: unknown) => finish({ kind: "failed", message: messageOf(error) });
      const taken = handlers.onEvent(event);
      if (taken !== undefined) inOrder.after(taken).catch(failed);
    }
  }

  function end({ response, error }: Parameters<StreamHandlers["onEnd"]>[0]): void {
    if (response !== undefined) finish(endOf(response.status, apiErrorOf(response, "watch")));
    else if (error !== undefined) finish({ kind: "failed", message: messageOf(error) });
    else finish({ kind: "closed", message: "closed by the server" });
  }

  cancelStream = transport.stream(request, {
    onOpen() {
      if (!done) handlers.onOpen();
    },
    onObject: (raw) => inOrder.do(() => receive(raw)),
    onEnd: (how) => inOrder.do(() => end(how)),
  });
  if (done) cancelStream();

  return () => {
    done = true;
    cancelStream();
  };
}

function endOf(
  status: number,
  { message, retryAfterMs }: { message: string; retryAfterMs?: number | undefined },
): WatchEnd {
  if (status === 410) return { kind: "expired", message };
  if (status === 400 || status === 422) return { kind: "refused", message };
  return { kind: "failed", message, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

/** A list that failed, as the end of the watch that it would have begun. */
export function endOfList(error: unknown): WatchEnd {
  const message = messageOf(error);
  if (!(error instanceof ApiError)) return { kind: "failed", message };
  return isExpired(error) ? { kind: "expired", message } : endOf(0, error);
}
