import { intentSource } from "../../../../src/agent/desired/choose-intent-source.ts";
import { watchOwnState } from "../../../../src/agent/desired/own-state.ts";
import { fieldManager, resource, systemNamespace } from "../../../../src/api/names.ts";
import type { NodeVolumeIntent } from "../../../../src/api/types.gen.ts";
import { isNotFound } from "../../../../src/kube/client/api-error.ts";
import { createKubeClient } from "../../../../src/kube/client/client.ts";
import { createHttpTransport } from "../../../../src/kube/client/http-transport.ts";
import { createKeyedQueue } from "../../../../src/kube/keyed-queue.ts";
import { createLeaseRenewer } from "../../../../src/kube/leases/lease-renewer.ts";
import type { System } from "../../../../src/ports.ts";
import { statusOf } from "../generator/agents.ts";
import { agentBootID } from "../generator/bases.ts";
import { counted } from "./counted.ts";
import type { Tally } from "./tally.ts";
import { writeTotals } from "./totals.ts";

/** How an agent hears of its intents: by a watch of them, or by the index in its node's NodeVolumeState. */
export type Way = "watch" | "index";

export interface AgentDeps {
  readonly system: System;
  readonly way: Way;
  readonly server: string;
  readonly ca: string;
  readonly node: string;
  /** Bound to the Node, as the policies ask for. */
  readonly token: string;
  readonly tally: Tally;
}

/**
 * One agent of many in a process. Of the product it has the transport, with connections of its own, the source of
 * intents, the watch of its node's state, queue and Lease; the rest is a stand-in that mounts nothing and says what an
 * agent would.
 */
export interface SimulatedAgent {
  start(): void;
  startLease(): void;
  /** Whether it has read all of its intents, and hears of changes. */
  connected(): boolean;
  stop(): void;
}

/** Milliseconds from an intent to its status: two mounts and their journal. */
const mountMs = 50;

export function createAgent({ system, way, server, ca, node, token, tally }: AgentDeps): SimulatedAgent {
  const tokens = { current: () => Promise.resolve(token), refused: () => tally.failed("token") };
  const http = createHttpTransport({ system, server, ca, token: tokens, userAgent: "nodevolume-agent" });
  const transport = counted(http, tally);
  const client = createKubeClient({ transport, fieldManager: fieldManager.agent });
  const lease = createLeaseRenewer({ system, client, namespace: systemNamespace, name: node });
  const watched = { system, transport, nodeName: node, onRestart: tally.restarted };
  const states = watchOwnState(watched);
  const by = way === "watch" ? "Watch" : "Index";
  const intents = intentSource({ ...watched, by, states, onRecord: () => [] });
  const all = () => [...intents.store.list()].map(({ raw }) => raw);
  const totals = writeTotals({ system, client, node, states, intents: all });
  const statuses = createKeyedQueue({ system, name: "status", concurrency: 8, run: speak });

  async function speak(name: string): Promise<undefined> {
    const intent = intents.store.get(name)?.raw;
    const time = `${new Date().toISOString().slice(0, 19)}Z`;
    const status = intent && statusOf(intent, agentBootID, time);
    if (intent === undefined || status === undefined) return;
    const { uid, resourceVersion } = intent.metadata;
    try {
      intents.upsertIfNewer(await client.mergePatchStatus(resource.intents, { name, uid, resourceVersion }, status));
      tally.said(status.state ?? "");
    } catch (error) {
      if (isNotFound(error)) return; // released, and its finalizer taken meanwhile
      tally.failed("status");
      const present = await client.get(resource.intents, { name });
      if (present !== undefined) intents.upsertIfNewer(present);
      throw error;
    }
  }

  function changed(intent: NodeVolumeIntent, before?: NodeVolumeIntent): void {
    if (before?.metadata.generation !== intent.metadata.generation) tally.saw(intent);
    totals.changed();
    if (statusOf(intent, agentBootID, "") !== undefined) statuses.addAfter(intent.metadata.name, mountMs);
  }

  intents.store.subscribe({
    onAdd: ({ raw }) => changed(raw),
    onUpdate: (before, { raw }) => changed(raw, before.raw),
    onDelete: () => totals.changed(),
  });
  return {
    start() {
      states.start();
      intents.start();
    },
    startLease: () => lease.start(),
    connected: () =>
      [intents.store.state(), states.store.state()].every(({ synced, connected }) => synced && connected),
    stop() {
      intents.stop();
      states.stop();
      totals.stop();
      void lease.stop();
      void statuses.stop();
      http.close();
    },
  };
}
