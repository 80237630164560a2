import type { ContentState } from "../../../src/agent/model/plan-input.ts";
import { resource } from "../../../src/api/names.ts";
import type { NodeVolumeIntent } from "../../../src/api/types.gen.ts";
import type { ContentRef } from "../../../src/plugins/api/content.ts";
import { plan } from "../../lib/builders/plan-whole.ts";
import { layout } from "../machine.ts";
import type { SimNode } from "../sim-node.ts";
import type { Settled } from "./settled.ts";

/** Law L5: of a settled world a planner that begins anew finds nothing to do. */
export function openSteps(
  world: Settled,
  { machine, agent }: SimNode,
  intents: readonly NodeVolumeIntent[],
  blocked: readonly string[],
): string[] {
  // What an agent remembers of a write that failed is less than what may stand on its disk.
  if (agent.namespace === undefined || machine.journal.doubtful) return [];
  const { journal, intents: intentHistory } = world.invariants;
  const own = intents.filter(({ spec }) => spec.nodeName === machine.name && spec.mode === "Manage");
  const { operations } = plan({
    desired: new Map(
      own.flatMap((intent) => intentHistory.understood(intent) ?? []).map(({ desired }) => [desired.name, desired]),
    ),
    synced: true,
    records: journal.records(machine),
    mayHaveLost: journal.mayHaveLost(machine),
    table: machine.table(agent.namespace),
    pendingOperations: new Map(),
    failures: new Map(),
    contents: (ref) => contentOf(world, ref),
    observed: new Map(),
    settings: {
      allowedPrefixes: [layout.prefix],
      stateDir: layout.stateDir,
      hostRoot: machine.hostRoot,
      csiDir: layout.csiDir,
      kubeletDir: layout.kubeletDir,
    },
    now: world.scheduler.now,
  });
  const refused = new Set(
    own.filter(({ status }) => status.expansion !== undefined).map(({ metadata }) => metadata.name),
  );
  return operations
    .filter(({ kind }) => kind !== "republish") // which never ends: it comes with the time
    .filter(({ volume, kind }) => !blocked.includes(volume) && !(kind === "expand" && refused.has(volume)))
    .map((operation) => `${machine.name}: the plan still has ${operation.kind} of ${operation.volume}`);
}

function contentOf(world: Settled, ref: ContentRef): ContentState {
  if (ref.kind !== "ConfigMap" && ref.kind !== "Secret") throw new Error(`no scenario has a ${ref.kind}`);
  const { kind, namespace, name, optional } = ref;
  const of = kind === "ConfigMap" ? resource.configMaps : resource.secrets;
  const object = world.server.get(of, name, namespace);
  if (object !== undefined) {
    return { known: true, version: `${object.metadata.uid}/${object.metadata.resourceVersion}` };
  }
  if (optional) return { known: true, version: "none" };
  return { known: false, problem: { reason: "ContentUnknown", message: `${kind} ${name}` } };
}
