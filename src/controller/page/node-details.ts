import type { NodeVolumeState } from "../../api/types.gen.ts";
import type { Facts } from "../../explain/facts.ts";
import { nodeFindings } from "../../explain/node-finding.ts";
import type { Intent } from "../model/projections.ts";
import { labelledSets } from "../model/volume-identity.ts";
import type { NodeDetails, OrphanDetails } from "./details.ts";
import { weightOf } from "./lines.ts";
import { type NodeKnown, nodeTrouble } from "./node-troubles.ts";
import { standingOf } from "./standing-of.ts";

/** PURE. One node, for people: itself, its volumes, and what is there that nobody asks for. */
export function nodeDetails(
  name: string,
  facts: Facts,
  known: NodeKnown,
  intents: readonly Intent[],
  read: { readonly state: NodeVolumeState | undefined; readonly notRead: string | undefined },
): NodeDetails {
  const volumes = intents.map((intent) => {
    const { standing, reason, message, since } = standingOf(intent);
    const said = { standing, reason, message, ...(since !== undefined && { since }) };
    return {
      name: intent.metadata.name,
      volume: intent.spec.volumeName,
      sets: labelledSets(intent.metadata).sort(),
      ...said,
    };
  });
  volumes.sort((a, b) => weightOf(b.standing) - weightOf(a.standing) || (a.volume < b.volume ? -1 : 1));
  const own = nodeTrouble(known)?.standing ?? "ready";
  const [first] = volumes;
  const orphans: readonly OrphanDetails[] = read.state?.status?.orphans ?? known.state?.orphans ?? [];
  const agent = read.state?.status?.agent;
  const worst = first !== undefined && weightOf(first.standing) > weightOf(own) ? first.standing : own;
  return {
    name,
    standing: worst === "ready" && orphans.length > 0 ? "orphan" : worst,
    chain: nodeFindings(facts, name, { ours: true }),
    agent: {
      life: known.life,
      ...(known.renewed !== undefined && { renewed: known.renewed }),
      ...(agent !== undefined && { version: agent.version }),
    },
    volumes,
    orphans: orphans.map(orphanOf),
    orphaned: read.state?.status?.orphaned ?? known.state?.orphaned ?? 0,
    ...(read.notRead !== undefined && { notRead: read.notRead }),
    commands: [
      `kubectl nvi explain node/${name}`,
      `kubectl nvi volumes ${name} -o wide`,
      ...(orphans.length > 0 ? [`kubectl nvi orphans ${name} -o wide`] : []),
      `kubectl -n nodevolume-system get pods -o wide --field-selector spec.nodeName=${name}`,
    ],
  };
}

/** No field that a later version of the API may bring. */
function orphanOf({ path, reason, kind, volume, since, message, remedy, reapAt, keptBecause }: OrphanDetails) {
  const some = { kind, volume, since, message, remedy, reapAt, keptBecause };
  return { path, reason, ...Object.fromEntries(Object.entries(some).filter(([, value]) => value !== undefined)) };
}
