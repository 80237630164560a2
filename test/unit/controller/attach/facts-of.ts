import type { GrantedCSIVolume } from "../../../../src/api/types.gen.ts";
import { attachmentName } from "../../../../src/controller/attach/attachment-name.ts";
import { decideVolume } from "../../../../src/controller/attach/decide-volume.ts";
import type { AttachPlan } from "../../../../src/controller/attach/volume-decision.ts";
import type { VolumeConsumer, VolumeFacts } from "../../../../src/controller/attach/volume-facts.ts";
import type { Intent } from "../../../../src/controller/model/projections.ts";
import type { Attachment } from "../../../../src/controller/model/storage-objects.ts";
import { node } from "../objects.ts";

/** Facts of one volume, from what a test cares about. */

export const id = { driver: "disk.example", volumeHandle: "vol" };

export interface MemberOptions {
  readonly created?: number;
  readonly granted?: boolean | "attached";
  readonly granting?: boolean;
  readonly deleted?: boolean;
  readonly mode?: GrantedCSIVolume["accessMode"];
  readonly nodeID?: string | undefined;
  readonly limit?: number;
  readonly attached?: number;
  readonly mounts?: number;
  readonly unmanaged?: string;
}

export function member(name: string, options: MemberOptions = {}): VolumeConsumer {
  const { created = 0, granted, granting = false, deleted, mode = "ReadWriteOnce", mounts = 1 } = options;
  const csi = { ...id, accessMode: mode };
  const volumeAttachment = { name: attachmentName(id, name), uid: "u" };
  const intent = {
    metadata: {
      name: `i-${name}`,
      uid: `uid-${name}`,
      creationTimestamp: new Date(1_700_000_000_000 + created * 1000).toISOString(),
      ...(deleted && { deletionTimestamp: "2024-01-01T00:00:00Z" }),
    },
    spec: {
      nodeName: name,
      mode: "Manage",
      volumeName: "v",
      mounts: Array.from({ length: mounts }, () => ({ requester: { name: "s" } })),
      source: { csi: id },
      ...(granted && { grant: { id: "g", csi, ...(granted === "attached" && { volumeAttachment }) } }),
    },
    status: {},
  } as unknown as Intent;
  return {
    intent,
    node: node(name),
    resolution: {
      id,
      accessMode: csi.accessMode,
      csi,
      persistentVolume: undefined,
      claim: undefined,
      capacityBytes: undefined,
      attachmentSource: {},
    },
    granting,
    place: {
      nodeID: "nodeID" in options ? options.nodeID : `id-${name}`,
      limit: options.limit,
      attached: options.attached ?? 0,
      unmanaged: options.unmanaged,
    },
  };
}

export function attachment(
  nodeName: string,
  more: Partial<Attachment> & { foreign?: boolean; deleted?: boolean; grant?: string; nodeID?: string } = {},
): Attachment {
  const { foreign, deleted, grant, nodeID, ...rest } = more;
  const ours = attachmentName(id, nodeName);
  return {
    metadata: {
      name: foreign ? `csi-${nodeName}` : ours,
      uid: "u",
      annotations: {
        ...(grant !== undefined && { "nodevolume.dev/grant": grant }),
        ...(nodeID !== undefined && { "csi.alpha.kubernetes.io/node-id": nodeID }),
      },
      ...(deleted && { deletionTimestamp: "2024-01-01T00:00:00Z" }),
    },
    attacher: id.driver,
    nodeName,
    persistentVolumeName: "",
    inline: id,
    attached: true,
    metadataOfDriver: {},
    attachError: "",
    attachErrorCode: undefined,
    detachError: "",
    ...rest,
  };
}

export function facts(
  consumers: VolumeConsumer[],
  attachments: Attachment[] = [],
  more: Partial<VolumeFacts> = {},
): VolumeFacts {
  return {
    id,
    attachRequired: true,
    tokenAudiences: [],
    audiencesOfPods: [],
    lifecycleModes: ["Persistent"],
    consumers,
    claims: [],
    attachments,
    attaching: new Set(),
    node: (name) => node(name),
    ...more,
  };
}

/** "n0: attach", "n1: VolumeHeldElsewhere", "-n2" for an attachment that is taken away. */
function shown(plan: AttachPlan): string[] {
  const steps = plan.decisions.map(({ consumer: { intent }, step, waitReason }) => {
    const what = [step?.do, waitReason?.reason].filter((one) => one !== undefined).join(" ");
    return `${intent.spec.nodeName}: ${what}`;
  });
  return [...steps.sort(), ...plan.detach.map(({ nodeName }) => `-${nodeName}`).sort()];
}

export function decide(...args: Parameters<typeof facts>): string[] {
  return shown(decideVolume(facts(...args)));
}
