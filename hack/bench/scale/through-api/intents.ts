import { resource } from "../../../../src/api/names.ts";
import type { NodeVolumeIntent } from "../../../../src/api/types.gen.ts";
import { resourcePath } from "../../../../src/kube/client/resource-path.ts";
import type { ApiClient, JsonObject } from "../../../lib/api-client.ts";
import { statusOf } from "../generator/agents.ts";
import { agentBootID } from "../generator/bases.ts";
import type { Counts } from "../generator/process.ts";

export interface IntentsDeps {
  /** Writes what an agent would say. @returns the state that was said */
  readonly speak: (intent: NodeVolumeIntent) => Promise<string | undefined>;
  /** Told of each intent as the watch shows it. */
  readonly saw: (intent: NodeVolumeIntent) => void;
}

export interface FollowedIntents {
  counts(): Pick<Counts, "intents" | "said" | "requests" | "lastWriteAt">;
  stop(): void;
}

/** Statuses that are written at a time, as those of many agents are. */
const atOnce = 16;

/** The watch of the stand-in for all agents, which says of each intent what its agent would. */
export function followIntents(client: ApiClient, { speak, saw }: IntentsDeps): FollowedIntents {
  const known = new Map<string, NodeVolumeIntent>();
  const said = new Map<string, number>();
  const due = new Set<string>();
  const requests: { [what: string]: number } = {};
  const ended = new AbortController();
  let speaking = 0;
  let lastWriteAt = 0;

  function pump(): void {
    for (const name of due) {
      if (speaking >= atOnce || ended.signal.aborted) return;
      due.delete(name);
      const intent = known.get(name);
      if (intent === undefined) continue;
      speaking += 1;
      speak(intent)
        .then((state) => state !== undefined && said.set(state, (said.get(state) ?? 0) + 1))
        .catch(() => undefined) // told again by the watch, if it matters
        .finally(() => {
          speaking -= 1;
          pump();
        });
    }
  }

  function count(what: string): void {
    requests[what] = (requests[what] ?? 0) + 1;
    lastWriteAt = Date.now();
  }

  function onEvent({ type, object }: JsonObject): void {
    const intent = object as NodeVolumeIntent;
    if (type === "BOOKMARK" || intent.metadata?.name === undefined) return;
    const { name } = intent.metadata;
    const before = known.get(name);
    if (type === "DELETED") {
      known.delete(name);
      count("delete nodevolumeintents");
      return;
    }
    known.set(name, intent);
    if (before === undefined) count("create nodevolumeintents");
    else if (before.metadata.generation !== intent.metadata.generation) count("patch nodevolumeintents");
    saw(intent);
    if (statusOf(intent, agentBootID, "") === undefined) return;
    due.add(name);
    pump();
  }

  async function follow(): Promise<void> {
    while (!ended.signal.aborted) {
      const path = `${resourcePath(resource.intents)}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`;
      await client.watch(path, onEvent, ended.signal).catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
  void follow();
  return {
    counts: () => ({ intents: known.size, said: Object.fromEntries(said), requests: { ...requests }, lastWriteAt }),
    stop: () => ended.abort(),
  };
}
