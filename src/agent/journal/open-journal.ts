import { messageOf } from "../../errors.ts";
import type { HostPorts } from "../../host/ports/host-ports.ts";
import type { System } from "../../ports.ts";
import type { HealthChecks } from "../health/health-checks.ts";
import { Journal } from "./journal.ts";
import { pause } from "./pause.ts";

/** Milliseconds until opening is retried: someone has to free disk space, or repair the directory. */
const retryMs = 5_000;

/** Dependencies of opening the journal at start. `signal` ends the retries: SIGTERM while the disk is full. */
export interface OpenJournalDeps {
  readonly system: System;
  readonly host: HostPorts;
  readonly healthChecks: HealthChecks;
  readonly signal: AbortSignal | undefined;
}

/**
 * Opens the journal, and retries until it succeeds. Without a journal the agent does nothing on the node; it keeps
 * running and reports why it is not ready.
 * @returns undefined if `signal` came first
 */
export async function openJournal(deps: OpenJournalDeps): Promise<Journal | undefined> {
  const { system, host, healthChecks, signal } = deps;
  for (let told = ""; signal?.aborted !== true; ) {
    try {
      const journal = await Journal.open(host.journal, await host.evidence.bootID(), system.log);
      healthChecks.missing("journal", undefined);
      return journal;
    } catch (error) {
      const message = messageOf(error);
      healthChecks.missing("journal", message);
      if (message !== told) system.log.error("nothing is done without a journal", { error: message, retryMs });
      told = message;
    }
    await pause(system, retryMs, signal);
  }
  return undefined;
}
