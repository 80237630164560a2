import fc from "fast-check";
import { isInvalid } from "../../src/agent/model/desired.ts";
import { mountAttributes } from "../../src/agent/model/mount-attributes.ts";
import { statusOf } from "../../src/agent/status/intent-status.ts";
import { nodeStateOf } from "../../src/agent/status/node-state-status.ts";
import { findCondition } from "../../src/api/conditions.ts";
import type { NodeVolumeIntent } from "../../src/api/types.gen.ts";
import { optionsOf } from "../lib/builders/mount-entries.ts";
import { plan } from "../lib/builders/plan-whole.ts";
import { law } from "./law.ts";
import { buildWorld } from "./worlds/build.ts";
import { covers, isOf, mayCover, ofOneFilesystem, shows, soleMount } from "./worlds/evidence.ts";
import { settings } from "./worlds/paths.ts";
import { worldChoices } from "./worlds/random-worlds.ts";

const context = { agent: { bootID: "boot-1", epoch: 1 }, now: 0 };

describe("L10: the status claims no more than the mount table shows", () => {
  law("each mount that is called Mounted is there, alone, and is what the record or the source says", {
    worlds: worldChoices,
    runs: 2000,
    reaches: ["Mounted", "Ready", "observed and Mounted", "staged", "not Ready with everything mounted"],
    check(choice, reached) {
      const { input, intents, volumes } = buildWorld(choice);
      for (const volume of plan(input).volumes.values()) {
        const entry = intents.get(volume.name);
        if (entry === undefined) continue;
        const { desired, record } = volume;
        const status = statusOf(entry.raw, volume, context);
        const found = (path: string) => input.table && soleMount(input.table, path);
        let asWanted = 0;
        for (const shown of status.mounts ?? []) {
          if (shown.state !== "Mounted") continue;
          const mount = found(shown.path);
          if (mount === undefined) throw new Error(`${shown.path} of ${volume.name} is not mounted, or not alone`);
          const target = record?.targets.find(({ path }) => path === shown.path);
          const staged = volumes.get(volume.name);
          const observed = target === undefined && staged !== undefined && isOf(mount, staged);
          reached.count("observed and Mounted", observed);
          reached.count("Mounted");
          if (!observed && (target === undefined || !covers(target, mount))) {
            throw new Error(`${shown.path} of ${volume.name} has another mount`);
          }
          if (shown.mountID !== undefined && shown.mountID !== String(mount.id)) {
            throw new Error(`${shown.path} of ${volume.name} is not mount ${shown.mountID}`);
          }
          const wanted =
            desired && !isInvalid(desired) ? desired.mounts.find(({ path }) => path === shown.path) : undefined;
          const flags = wanted && optionsOf(wanted.attributes).join() === optionsOf(mountAttributes(mount)).join();
          const current = record?.stage?.identity === undefined || shows(mount, record.stage.identity);
          if (observed ? wanted !== undefined : flags === true && current) asWanted++;
        }
        const { readyMounts: claimed = 0, desiredMounts: of = 0 } = status;
        if (claimed > asWanted) throw new Error(`${volume.name} claims ${claimed}, and ${asWanted} are as wanted`);
        const ready = findCondition(status.conditions, "Ready")?.status === "True";
        const wants = desired !== undefined && !isInvalid(desired) ? desired.mounts.length : 0;
        if (of !== wants && !isStale(volume.desired, record)) throw new Error(`${volume.name} wants ${wants}: ${of}`);
        if (ready && desired !== undefined && !isInvalid(desired) && desired.mode === "Manage" && asWanted < wants) {
          throw new Error(`${volume.name} is Ready with ${asWanted} of ${wants} mounts`);
        }
        reached.count("Ready", ready && wants > 0);
        reached.count("not Ready with everything mounted", !ready && wants > 0 && asWanted === wants);
        if (status.stagingPath === undefined) continue;
        reached.count("staged");
        const mount = input.table?.at(status.stagingPath);
        const identity = record?.stage?.identity;
        if (mount === undefined) throw new Error(`nothing is mounted on ${status.stagingPath}`);
        if (status.stagingPath && identity && ready && !ofOneFilesystem(mount, identity)) {
          throw new Error(`${volume.name} is Ready, and ${status.stagingPath} has another file system`);
        }
      }
    },
  });

  law("observedGeneration never goes back within one object, and starts anew with another", {
    worlds: fc.tuple(worldChoices, fc.nat(9), fc.boolean()),
    runs: 1000,
    reaches: ["an older read", "another object"],
    check([choice, generation, sameUID], reached) {
      const { input, intents } = buildWorld(choice);
      for (const volume of plan(input).volumes.values()) {
        const entry = intents.get(volume.name);
        if (entry === undefined) continue;
        const uid = sameUID ? entry.metadata.uid : "uid-of-another";
        const raw: NodeVolumeIntent = {
          ...entry.raw,
          status: { ...entry.raw.status, observedUID: uid ?? "", observedGeneration: generation },
        };
        const own = raw.metadata.generation ?? 0;
        const { observedGeneration, observedUID } = statusOf(raw, volume, context);
        reached.count("an older read", sameUID && generation > own);
        reached.count("another object", !sameUID && generation > own);
        const expected = sameUID ? Math.max(generation, own) : own;
        if (observedGeneration !== expected) throw new Error(`${generation} of ${uid}, then ${observedGeneration}`);
        if (observedUID !== raw.metadata.uid) throw new Error(`observedUID ${observedUID}`);
      }
    },
  });

  law("a node is called drained only if no mount of ours can be left on it", {
    worlds: worldChoices,
    runs: 2000,
    reaches: ["drained", "drained with records left", "not drained without intents", "not synced"],
    check(choice, reached) {
      const { input } = buildWorld(choice);
      const result = plan(input);
      const { stateDir, csiDir, hostRoot } = settings;
      const agent = { version: "test", ...context.agent };
      const { synced, table } = input;
      const object = {
        apiVersion: "nodevolume.dev/v1alpha1",
        kind: "NodeVolumeState",
        metadata: { name: "node" },
      } as const;
      const status = nodeStateOf({ ...object, status: {} } as never, {
        plan: result,
        table,
        synced,
        stateDir,
        csiDir,
        hostRoot,
        agent,
        now: 0,
      });
      const drained = findCondition(status.conditions, "Drained")?.status === "True";
      const left = [...input.records.values()].find((record) =>
        record.targets.some(
          (target) => table === undefined || table.layers(target.path).some((mount) => mayCover(target, mount)),
        ),
      );
      const granted = [...input.desired.values()].some((each) => {
        return !isInvalid(each) && !each.deleting && each.mode === "Manage" && each.granted;
      });
      reached.count("drained", drained);
      reached.count("drained with records left", drained && input.records.size > 0);
      reached.count("not drained without intents", !drained && input.desired.size === 0);
      reached.count("not synced", !synced);
      if (!drained) return;
      if (left !== undefined) throw new Error(`drained, and ${left.name} may be mounted`);
      if (granted || !synced) throw new Error("drained, and a volume is granted or not read yet");
      if (status.inUse !== 0) throw new Error(`drained, and ${status.inUse} in use`);
    },
  });
});

function isStale(
  desired: { readonly uid: string; readonly generation: number } | undefined,
  record: { readonly uid: string; readonly generation: number } | undefined,
): boolean {
  return desired !== undefined && record?.uid === desired.uid && desired.generation < record.generation;
}
