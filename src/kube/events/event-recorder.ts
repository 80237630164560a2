import { cut, timestamp } from "../../api/conditions.ts";
import type { KubeObject } from "../../api/meta.ts";
import { resource } from "../../api/names.ts";
import { messageOf } from "../../errors.ts";
import type { System } from "../../ports.ts";
import { isNotFound, isUnavailable } from "../client/api-error.ts";
import type { KubeClient } from "../client/client.ts";
import type { Correlation, EventInput } from "./event-correlator.ts";
import { createEventCorrelator } from "./event-correlator.ts";

/** Dependencies of recording Events. */
export interface EventRecorderDeps {
  readonly system: System;
  readonly client: KubeClient;
  /** Who says it: nodevolume-controller or nodevolume-agent. */
  readonly component: string;
  /** Node that the component runs on, if it belongs to one. */
  readonly host?: string;
  /** Ends when nothing more urgent is to be written. Each event waits for it, but not for long. */
  readonly yieldTo?: () => Promise<void>;
  /** Told of each event that was not written, and why. */
  readonly onDrop?: (why: "rate" | "queue-full" | "refused" | "no-answer") => void;
}

/** Writes core/v1 Events for people. Never throws and never holds up its caller: what cannot be written is counted. */
export interface EventRecorder {
  event(event: EventInput): void;
  /** Resolves when what was recorded before is written or given up. */
  flush(): Promise<void>;
  /** Takes no more events and gives up those that wait. */
  stop(): void;
}

type Pending = { readonly input: EventInput; readonly how: Exclude<Correlation, { action: "drop" }> };

const maxPending = 256;
const attempts = 3;
const retryMs = 2_000;
/**
 * Longest that an event waits for what is more urgent, in milliseconds: a server that never keeps up hears of warnings,
 * too.
 */
const longestYieldMs = 5_000;
const maxMessageLength = 1024;

/** Records Events in the background: no caller waits for them, and Events beyond the limits are dropped. */
export function createEventRecorder(deps: EventRecorderDeps): EventRecorder {
  const { clock, timers, random, log } = deps.system;
  const correlator = createEventCorrelator();
  const pending: Pending[] = [];
  let sending: Promise<void> | undefined;
  let stopped = false;

  async function sendAll(): Promise<void> {
    for (let next = pending.shift(); next !== undefined; next = pending.shift()) {
      await yieldToOthers();
      await sendWithRetries(next);
    }
    sending = undefined;
  }

  async function yieldToOthers(): Promise<void> {
    if (deps.yieldTo === undefined) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = timers.after(longestYieldMs, resolve);
    await Promise.race([deps.yieldTo(), promise]);
    cancel();
  }

  async function sendWithRetries(event: Pending): Promise<void> {
    for (let attempt = 1; !stopped; attempt += 1) {
      try {
        return await send(event);
      } catch (error) {
        const again = isUnavailable(error) && attempt < attempts;
        if (!again) {
          deps.onDrop?.(isUnavailable(error) ? "no-answer" : "refused");
          log.debug("event dropped", { reason: event.input.reason, error: messageOf(error) });
          return;
        }
        await new Promise<void>((resolve) => timers.after(retryMs * (1 + random.next()), resolve));
      }
    }
  }

  async function send({ input, how }: Pending): Promise<void> {
    // A cluster-scoped object has its Events in the namespace default, as the API server demands.
    const namespace = input.object.namespace ?? "default";
    const now = timestamp(clock.now());
    const message = cut(how.message, maxMessageLength);
    const existing = correlator.nameOf(how.key);
    if (existing !== undefined) {
      try {
        const patch = { count: how.count, lastTimestamp: now, message };
        await deps.client.mergePatch(resource.events, { namespace, name: existing }, patch);
        return;
      } catch (error) {
        // The server forgets Events after an hour.
        if (!isNotFound(error)) throw error;
      }
    }
    const name = `${input.object.name.slice(0, 200).replace(/[^a-z0-9]+$/, "")}.${random.uuid()}`;
    const event: KubeObject & { [key: string]: unknown } = {
      metadata: { namespace, name },
      involvedObject: input.object,
      type: input.type,
      reason: input.reason,
      message,
      count: how.count,
      firstTimestamp: now,
      lastTimestamp: now,
      source: { component: deps.component, ...(deps.host !== undefined && { host: deps.host }) },
      reportingComponent: deps.component,
      reportingInstance: deps.host ?? "",
    };
    await deps.client.create(resource.events, event);
    correlator.created(how.key, name);
  }

  return {
    event(input) {
      if (stopped) return;
      const how = correlator.correlate(input, clock.monotonic());
      if (how.action === "drop") return deps.onDrop?.("rate");
      if (pending.length >= maxPending) return deps.onDrop?.("queue-full");
      pending.push({ input, how });
      sending ??= sendAll();
    },
    async flush() {
      await sending;
    },
    stop() {
      stopped = true;
      pending.length = 0;
    },
  };
}
