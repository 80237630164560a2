import { label } from "../../api/names.ts";
import type { NodeVolumeIntent } from "../../api/types.gen.ts";
import type { Facts } from "../../explain/facts.ts";
import { intentFindings } from "../../explain/intent-chain.ts";
import { labelledSets } from "../model/volume-identity.ts";
import type { Place, Step, VolumeDetails } from "./details.ts";
import { standingOf } from "./standing-of.ts";

/**
 * PURE. One volume on one node, for people.
 * @param notRead why the intent is as the cache has it, without its history; undefined: it was read now
 */
export function volumeDetails(facts: Facts, intent: NodeVolumeIntent, notRead: string | undefined): VolumeDetails {
  const { metadata, spec, status } = intent;
  const { lastError, conditions = [] } = status;
  const { name } = metadata;
  return {
    name,
    volume: spec.volumeName,
    node: spec.nodeName,
    sets: labelledSets(metadata).sort(),
    type: metadata.labels?.[label.type] ?? Object.keys(spec.source)[0] ?? "",
    mode: spec.mode,
    standing: standingOf(intent).standing,
    state: status.state ?? "Unknown",
    chain: intentFindings(facts, intent),
    mounts: placesOf(intent),
    pods: podsOf(intent),
    plan: status.plan ?? [],
    ...(lastError !== undefined && { lastError }),
    conditions: conditions.map(({ type, status: is, reason, message, lastTransitionTime: since }) => ({
      ...{ type, status: is, reason, message, since },
    })),
    history: historyOf(intent),
    ...(notRead !== undefined && { notRead }),
    commands: [
      `kubectl nvi explain ${spec.nodeName}/${spec.volumeName}`,
      `kubectl describe nvi ${name}`,
      `kubectl nvi history ${spec.nodeName}/${spec.volumeName}`,
    ],
  };
}

/** Those of the spec, as the agent says it of each, and those that are still to be removed. */
function placesOf({ spec, status }: NodeVolumeIntent): Place[] {
  const said = status.mounts ?? [];
  const unsaid = spec.mounts.filter(({ name, path }) => !said.some((one) => one.name === name && one.path === path));
  return [
    ...said.map(({ name, path, state, drift, message }) => ({
      ...{ name, path, state },
      ...(drift !== undefined && { drift }),
      ...(message !== undefined && { message }),
    })),
    ...unsaid.map(({ name, path }) => ({ name, path, state: "not reported" })),
  ];
}

function podsOf({ spec, status }: NodeVolumeIntent): Place[] {
  return (spec.pods ?? []).map(({ uid, namespace, name, volume }) => {
    const said = status.pods?.find((pod) => pod.uid === uid && pod.volume === volume);
    const { state = "Pending", drift, message } = said ?? {};
    return {
      ...{ name: `${namespace}/${name}`, path: volume, state },
      ...(drift !== undefined && { drift }),
      ...(message !== undefined && { message }),
    };
  });
}

function historyOf({ status }: NodeVolumeIntent): Step[] {
  const steps = status.history ?? [];
  return steps
    .map(({ time, state, reason = "" }, at) => {
      const lastedMs = Date.parse(steps[at + 1]?.time ?? "") - Date.parse(time);
      return { time, state, reason, ...(!Number.isNaN(lastedMs) && { lastedMs }) };
    })
    .reverse();
}
