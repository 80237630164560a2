import { readFileSync } from "node:fs";
import { parseJournal } from "../../../src/agent/journal/journal-format.ts";
import type { VolumeRecord } from "../../../src/agent/model/volume-record.ts";
import { mountLinesBeneath } from "../../lib/mount-lines.ts";

/**
 * Where an agent was when it died, from what it left: its journal and the table. One for each volume that was under
 * way.
 */
export function phasesOf(path: string): string[] {
  const points = new Set(mountLinesBeneath(path).map(({ point }) => point));
  const records = [...parseJournal(journalOf(path)).records.values()];
  return records.flatMap((record) => phaseOf(record, points) ?? []);
}

function phaseOf(record: VolumeRecord, points: ReadonlySet<string>): string | undefined {
  if (record.child !== undefined) return "a child was at work";
  const going = record.revoked === true;
  for (const target of record.targets) {
    if (!points.has(target.path)) return going ? "unmounted, not yet forgotten" : "announced, not yet mounted";
    if (target.mountID === undefined) return "mounted, its id not yet on record";
  }
  if (going) return record.targets.length > 0 ? "to be released, still mounted" : "unstaging";
  if (record.stage?.ready === false) return "staging";
  return record.targets.length === 0 ? "staged, no target yet" : undefined;
}

/** @param path the agent's directory */
export function journalOf(path: string): string {
  try {
    return readFileSync(`${path}/state/journal`, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return ""; // killed before it wrote the first one
    throw error;
  }
}
