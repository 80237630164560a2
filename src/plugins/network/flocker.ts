import type { FlockerVolumeSource } from "../../api/types.gen.ts";
import { VolumeError } from "../../errors.ts";
import { joinPath } from "../../host/mount-table/mount-table.ts";
import type { FlockerService } from "../../host/ports/flocker.ts";
import { type StageContext, type StagingPlugin, sourceOf } from "../api/volume-plugin.ts";
import { foundSource } from "../host/found-source.ts";
import { stagedPath } from "../host/host-path.ts";

/**
 * A dataset of Flocker, a product that does not exist any more: its control service is told to bring it to this node,
 * where Flocker mounts it; from there it is bound. Nothing moves it away again but the next that asks. (kubelet until
 * 1.24: pkg/volume/flocker)
 */
export const flocker: StagingPlugin = {
  type: "flocker",

  layout: (spec) => ({ options: [], readOnly: sourceOf(spec, "flocker").readOnly === true, devices: false }),

  async stage(spec, context) {
    const service = context.flocker;
    const id = await datasetID(sourceOf(spec, "flocker"), service);
    const node = await nodeID(service);
    const path = await bringHere(id, node, context);
    const info = await context.mounter.inspect({ root: context.hostRoot, path });
    const mounted = info && (await context.tableNow()).at(info.canonicalPath);
    if (info === undefined || mounted === undefined) {
      const message = `Flocker reports dataset ${id} at ${path} of this node, but nothing is mounted there`;
      throw new VolumeError("DriverReplyFalse", "transient", message, {
        on: { kind: "Mount", name: joinPath(context.hostRoot, path.slice(1)) },
      });
    }
    return stagedPath(info, foundSource(path, info, context));
  },
};

/** Tells the control service, if it has to move, and looks again at the next attempt: it says nothing by itself. */
async function bringHere(id: string, node: string, { flocker: service, progress }: StageContext): Promise<string> {
  const states = listOf(await service.get("state/datasets"), service);
  const state = states.find((one) => one["dataset_id"] === id);
  const { primary, path } = state ?? {};
  if (primary === node && typeof path === "string" && /^\/[^/]/.test(path)) return path;
  const configured = listOf(await service.get("configuration/datasets"), service);
  if (configured.find((one) => one["dataset_id"] === id)?.["primary"] !== node) {
    progress(`requesting dataset ${id} on this node from Flocker`);
    await service.post(`configuration/datasets/${id}`, { primary: node });
  }
  const where =
    primary === node ? "is being mounted on this node" : `is on its way here from ${String(primary ?? "nowhere")}`;
  const on = { kind: "FlockerNode", name: String(primary ?? node) };
  throw new VolumeError("VolumeHeldElsewhere", "transient", `dataset ${id} ${where}`, { on });
}

async function datasetID(source: FlockerVolumeSource, service: FlockerService): Promise<string> {
  const { datasetName, datasetUUID } = source;
  if (datasetUUID !== undefined) return datasetUUID;
  const found = listOf(await service.get("configuration/datasets"), service).find(({ metadata, deleted }) => {
    const name = typeof metadata === "object" && metadata !== null && "name" in metadata ? metadata.name : undefined;
    return name === datasetName && deleted !== true;
  });
  const id = found?.["dataset_id"];
  if (typeof id === "string" && isUUID(id)) return id;
  const message = `Flocker has no dataset of the name ${datasetName}: create it, or name another`;
  throw new VolumeError("SourceNotFound", "transient", message, { on: { kind: "Dataset", name: datasetName ?? "" } });
}

async function nodeID(service: FlockerService): Promise<string> {
  const addresses = service.addresses();
  const nodes = listOf(await service.get("state/nodes"), service);
  const uuid = nodes.find(({ host }) => typeof host === "string" && addresses.includes(host))?.["uuid"];
  if (typeof uuid === "string") return uuid;
  const message = `none of the nodes that Flocker has names an address of this one (${addresses.join(", ")}): does its agent run here?`;
  throw new VolumeError("DriverFailed", "transient", message, { on: { kind: "Server", name: service.name } });
}

type Entry = { readonly [member: string]: unknown };

function listOf(answer: unknown, { name }: FlockerService): readonly Entry[] {
  if (Array.isArray(answer) && answer.every((one) => typeof one === "object" && one !== null)) return answer;
  const message = `the control service of Flocker at ${name} did not answer with a list of objects`;
  throw new VolumeError("DriverReplyInvalid", "transient", message, { on: { kind: "Server", name } });
}

/** It becomes a part of a URL. */
function isUUID(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}
