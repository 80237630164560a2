import { messageOf } from "../../errors.ts";
import type { Cancel, Yielder } from "../../ports.ts";
import { ApiError, errorOf } from "../client/api-error.ts";
import type { ApiRequest, StreamHandlers, Transport } from "../client/transport.ts";
import { isRecord, numberIn, recordIn, stringIn } from "../json.ts";
import { runYielding } from "./yielding.ts";

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
    if (response !== undefined) finish(endOfFailure(errorOf(response, "watch")));
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

/** A watch that was not begun, or the list that it would have begun at, as its end. */
export function endOfFailure(error: unknown): WatchEnd {
  return error instanceof ApiError ? endOf(error.status, error) : { kind: "failed", message: messageOf(error) };
}

/** One line of a watch. */
type WatchEvent =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: unknown; readonly resourceVersion: string }
  | { readonly type: "BOOKMARK"; readonly resourceVersion: string; readonly initialEventsEnd: boolean }
  | { readonly type: "ERROR"; readonly status: number; readonly message: string };

/** A watch line as an event; undefined if it is none that is known. */
export function parseWatchEvent(raw: unknown): WatchEvent | undefined {
  const type = stringIn(raw, "type");
  const object = recordIn(raw, "object");
  if (type === "ERROR") {
    const message = stringIn(object, "message") ?? "no message";
    return { type, status: numberIn(object, "code") ?? 500, message };
  }
  const metadata = recordIn(object, "metadata");
  const resourceVersion = stringIn(metadata, "resourceVersion");
  if (!isRecord(object) || resourceVersion === undefined || resourceVersion === "") return undefined;
  if (type === "BOOKMARK") {
    const initialEventsEnd = stringIn(recordIn(metadata, "annotations"), "k8s.io/initial-events-end") === "true";
    return { type, resourceVersion, initialEventsEnd };
  }
  if (type === "ADDED" || type === "MODIFIED" || type === "DELETED") return { type, object, resourceVersion };
  return undefined;
}

/** Lets things happen at once, and while something is awaited, afterwards, in the order in which they came. */
interface InOrder {
  do(act: () => void): void;
  /** Resolves when `awaited` has, and all that came meanwhile is done; rejects if either fails. */
  after(awaited: Promise<void>): Promise<void>;
}

/** Keeps the order of changes while one of them takes more than one turn of the event loop. */
function createInOrder(yielder: Yielder): InOrder {
  let held: (() => void)[] | undefined;

  function* heldBack(): Generator<void> {
    // What comes meanwhile is put at its end.
    for (const act of held ?? []) {
      act();
      yield;
    }
    held = undefined;
  }

  return {
    do(act) {
      if (held === undefined) act();
      else held.push(act);
    },
    async after(awaited) {
      held = [];
      await awaited;
      await runYielding(yielder, heldBack());
    },
  };
}
