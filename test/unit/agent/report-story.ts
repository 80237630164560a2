import { expect } from "chai";
import { type IntentEntry, understand } from "../../../src/agent/desired/intents.ts";
import { HealthChecks } from "../../../src/agent/health/health-checks.ts";
import type { Failure } from "../../../src/agent/model/failure.ts";
import { Reporter } from "../../../src/agent/status/status-reporter.ts";
import type { NodeVolumeIntent } from "../../../src/api/types.gen.ts";
import type { KubeClient } from "../../../src/kube/client/client.ts";
import { createObjectStore } from "../../../src/kube/watch/object-store.ts";
import { failuresAt, planWorld, volume, wanted } from "../../lib/builders/plan-world.ts";
import { virtualSystem } from "../kube/virtual-system.ts";

/** JSON merge patch (RFC 7386). */
function merged(before: unknown, patch: unknown): unknown {
  if (typeof patch !== "object" || patch === null || Array.isArray(patch)) return patch;
  const out: { [key: string]: unknown } = { ...(before as object) };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete out[key];
    else out[key] = merged(out[key], value);
  }
  return out;
}

/** A reporter whose API server takes every status, or refuses as it is told to. */
export function reportStory({ epoch = 1 } = {}) {
  const system = virtualSystem();
  const healthChecks = new HealthChecks(system.clock);
  for (const need of ["lock", "journal", "intents"] as const) healthChecks.missing(need, undefined);
  const store = createObjectStore<IntentEntry>({ clock: system.clock, log: system.log });
  let version = 1;
  const show = (intent: NodeVolumeIntent) => {
    version += 1;
    const entry = understand({ ...intent, metadata: { ...intent.metadata, resourceVersion: String(version) } });
    if (entry !== undefined) store.upsert(entry);
  };
  const server = { writes: 0, refuses: undefined as Error | undefined, mute: undefined as Error | undefined };
  // Only what the reporter calls.
  const client = {
    mergePatchStatus: async (_resource: unknown, _ref: unknown, patch: object) => {
      server.writes += 1;
      if (server.refuses !== undefined) throw server.refuses;
      const { raw } = store.get(volume) ?? expect.fail("no intent");
      show({ ...raw, status: merged(raw.status, patch) as NodeVolumeIntent["status"] });
      return undefined;
    },
    async get() {
      if (server.mute !== undefined) throw server.mute;
      return undefined;
    },
  } as unknown as KubeClient;
  const doubted: string[] = [];
  let reached = () => {};
  const intents = {
    ...{ store, upsertIfNewer: () => {}, doubt: (name: string) => void doubted.push(name) },
    onReached(told: () => void) {
      reached = told;
      return () => {};
    },
  };
  const reporter = new Reporter({ system, client, intents, agent: { bootID: "b", epoch }, healthChecks });
  let attempts = 0;
  /** The volume's staging fails once more, `seconds` later, and the reporter is told. */
  const fail = async (seconds: number, intent = wanted()) => {
    attempts += 1;
    const now = system.clock.monotonic();
    const failure: Failure = {
      kind: "stage",
      generation: intent.metadata.generation ?? 1,
      reason: "SetUpFailed",
      errorClass: "transient",
      message: "no",
      attempts,
      firstAt: 0,
      nextAt: now + 1e9,
      time: system.clock.now(),
      nextTime: system.clock.now() + 1e9,
    };
    const failures = failuresAt([{ volume }, failure]);
    reporter.planned(planWorld({ intents: [intent], failures, input: { now } }));
    await system.advance(seconds * 1_000);
  };
  show(wanted());
  return { system, healthChecks, server, reporter, fail, show, store, doubted, reached: () => reached() };
}
