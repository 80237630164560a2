import { type DesiredVolume, isInvalid } from "../../src/agent/model/desired.ts";
import { attributeDifference, mountAttributes } from "../../src/agent/model/mount-attributes.ts";
import type { Operation } from "../../src/agent/model/operation.ts";
import type { PlanInput } from "../../src/agent/model/plan-input.ts";
import type { TargetRecord, VolumeRecord } from "../../src/agent/model/volume-record.ts";
import type { MountEntry } from "../../src/host/mount-table/mountinfo.ts";
import { plan } from "../lib/builders/plan-whole.ts";
import { law } from "./law.ts";
import { buildWorld } from "./worlds/build.ts";
import { mayCover, shows, takesAway, told } from "./worlds/evidence.ts";
import { overlap } from "./worlds/paths.ts";
import { movingWorlds, worldChoices } from "./worlds/random-worlds.ts";

describe("L8: fail static", () => {
  law("a mount is taken away only for a reason that somebody gave", {
    worlds: worldChoices,
    runs: 2500,
    reaches: [
      "revoked before it vanished",
      "deleted",
      "consumer left",
      "options changed",
      "shows something else",
      "flags changed",
      "differs on the node",
      "no consumer left",
    ],
    check(choice, reached) {
      const { input } = buildWorld(choice);
      for (const operation of plan(input).operations) {
        const record = input.records.get(operation.volume);
        if (!takesAway(operation) || operation.kind === "forget" || record === undefined) continue;
        if (isEmptyTarget(operation, record, input)) continue;
        const reason = reasonFor(operation, record, input);
        if (reason === undefined) throw new Error(`nobody asked for that: ${told([operation])}`);
        reached.count(reason);
      }
    },
  });

  law("the old path of a mount that moves stays until the new one is there", {
    worlds: movingWorlds,
    runs: 1000,
    reaches: ["moves", "moved", "moves to where it cannot be mounted now"],
    check(choice, reached) {
      const { input } = buildWorld(choice);
      const result = plan(input);
      for (const desired of input.desired.values()) {
        if (isInvalid(desired) || desired.deleting) continue;
        const operation = result.operations.find(({ volume }) => volume === desired.name);
        const options = input.records.get(desired.name)?.stage?.options ?? [];
        if (options.join() !== desired.layout.options.join()) continue; // it may have to be taken down as a whole
        for (const target of input.records.get(desired.name)?.targets ?? []) {
          const successor = desired.mounts.find(({ name }) => name === target.name);
          // One beneath the other they cannot both be there.
          if (successor === undefined || desired.mounts.some(({ path }) => overlap(path, target.path))) continue;
          const there = input.records
            .get(desired.name)
            ?.targets.some(({ path }) => path === successor.path && input.table?.at(path) !== undefined);
          reached.count(there ? "moved" : "moves");
          const barred = result.volumes.get(desired.name)?.problems.targets.has(successor.path) === true;
          reached.count("moves to where it cannot be mounted now", barred);
          const goes = operation?.kind === "unpublish" && operation.path === target.path;
          if (goes && !there) throw new Error(`${target.path} goes before ${successor.path} is there`);
        }
      }
    },
  });

  law("a volume whose intent vanished keeps its mounts, and its record as long as one is left", {
    worlds: worldChoices,
    runs: 2000,
    reaches: ["vanished while mounted", "all intents vanished", "retained", "forgotten"],
    check(choice, reached) {
      const { input } = buildWorld(choice);
      const result = plan({ ...input, synced: true, desired: new Map() });
      reached.count("all intents vanished", input.desired.size > 0);
      for (const record of input.records.values()) {
        if (record.revoked === true && record.retained !== true) continue;
        const operation = result.operations.find(({ volume }) => volume === record.name);
        const mounted = record.targets.filter((target) =>
          input.table?.layers(target.path).some((m) => ours(target, m)),
        );
        reached.count("retained", record.retained === true && mounted.length > 0);
        reached.count("vanished while mounted", mounted.length > 0);
        reached.count("forgotten", operation?.kind === "forget");
        if (operation === undefined) continue;
        if (operation.kind !== "forget") throw new Error(`nobody asked for that: ${told([operation])}`);
        if (mounted.length > 0) throw new Error(`${record.name} is forgotten with ${mounted[0]?.path} mounted`);
      }
    },
  });
});

function ours(target: TargetRecord, mount: MountEntry): boolean {
  return shows(mount, target.identity);
}

/** A mount point on which nothing is that could be ours: to drop it from the record takes no mount away. */
function isEmptyTarget(operation: Operation, record: VolumeRecord, { table }: PlanInput): boolean {
  if (operation.kind !== "unpublish" || operation.mountID !== undefined) return false;
  const target = record.targets.find(({ path }) => path === operation.path);
  return target !== undefined && table?.layers(target.path).some((mount) => mayCover(target, mount)) === false;
}

/** Why a removal may be: from the intent, if there is one, or from what was written down of one that was deleted. */
function reasonFor(operation: Operation, record: VolumeRecord, input: PlanInput): string | undefined {
  const desired = input.desired.get(operation.volume);
  const target = "path" in operation ? record.targets.find(({ path }) => path === operation.path) : undefined;
  if (desired === undefined) {
    const own = target === undefined || target.uid === record.uid;
    return record.revoked === true && record.retained !== true && own ? "revoked before it vanished" : undefined;
  }
  if (desired.uid === record.uid && desired.generation < record.generation) return undefined;
  if (target !== undefined && target.uid !== desired.uid && operation.kind === "unpublish") return undefined;
  if (desired.deleting) {
    const observed = !isInvalid(desired) && desired.mode === "Observe";
    return desired.deletionPolicy === "Retain" || observed || record.retained === true ? undefined : "deleted";
  }
  if (isInvalid(desired) || desired.mode === "Observe" || !desired.granted) return undefined;
  return changeFor(operation, { desired, record, target, input });
}

/** Why what a volume has is taken away although the volume is wanted. */
function changeFor(
  operation: Operation,
  world: { desired: DesiredVolume; record: VolumeRecord; target: TargetRecord | undefined; input: PlanInput },
): string | undefined {
  const { desired, record, target, input } = world;
  const changed = !desired.suspend && record.stage?.options.join() !== desired.layout.options.join();
  if (operation.kind === "unstage") {
    if (desired.suspend) return undefined;
    return desired.mounts.length === 0 ? "no consumer left" : changed ? "options changed" : undefined;
  }
  if (!("path" in operation) || target === undefined) return undefined;
  const mount = desired.mounts.find(({ path }) => path === operation.path);
  if (operation.kind === "unpublish") {
    return mount === undefined ? "consumer left" : changed ? "options changed" : undefined;
  }
  const shown = input.table?.at(operation.path);
  const source = record.stage?.identity;
  if (mount === undefined || shown === undefined || desired.suspend) return undefined;
  if (source !== undefined && (!shows(shown, source) || !shows({ ...shown, ...target.identity }, source))) {
    return "shows something else";
  }
  if (attributeDifference(mountAttributes(shown), mount.attributes).length > 0) return "flags changed";
  return input.nodeTable === undefined ? undefined : "differs on the node";
}
