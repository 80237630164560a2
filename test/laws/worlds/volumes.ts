import { volumeKey } from "../../../src/agent/desired/volume-key.ts";
import { asVolumeName, type VolumeName } from "../../../src/agent/model/identities.ts";
import type { StageRecord } from "../../../src/agent/model/volume-record.ts";
import type { MountIdentity } from "../../../src/host/mount-table/mount-table.ts";
import type { SourceType, StageKind } from "../../../src/plugins/api/volume-plugin.ts";
import type { VolumeType } from "./choices.ts";
import { settings } from "./paths.ts";

/**
 * What a volume is on the node when it is staged: the agent of these worlds, before the world was looked at, made it
 * so.
 */
export interface StagedVolume {
  readonly kind: StageKind;
  readonly type: SourceType;
  /** What targets are bound from. */
  readonly path: string;
  readonly fileKind: "directory" | "file";
  readonly fsType: string;
  /** The source column of the mount table. */
  readonly source: string;
  readonly identity: MountIdentity;
  /** What it was before it was staged the last time. */
  readonly before: MountIdentity;
  readonly deviceNumber?: string;
}

interface Form {
  readonly kind: StageKind;
  readonly type: SourceType;
  readonly path?: string;
  readonly fsType: string;
  readonly source: string;
  readonly device: string;
  readonly root: string;
  readonly deviceNumber?: string;
}

export function stagedVolume(type: VolumeType, index: number): StagedVolume {
  const key = volumeKey(volumeName(index));
  const form = forms[type](index, key);
  const { kind, fsType, source, device, root, deviceNumber } = form;
  const numbered = device.startsWith("0:");
  const identity = { device, root, ...(numbered && { source }) };
  const before = numbered ? { ...identity, device: `0:${90 + index}` } : { ...identity, root: `${root}-before` };
  const own = { filesystem: `${settings.stateDir}/staging/${key}`, directory: `${settings.stateDir}/data/${key}` };
  const path = kind === "filesystem" || kind === "directory" ? own[kind] : root;
  const fileKind = kind === "device" ? "file" : "directory";
  const staged = { kind, type: form.type, path, fileKind, fsType, source, identity, before } as const;
  return { ...staged, ...(deviceNumber !== undefined && { deviceNumber }) };
}

export function volumeName(index: number): VolumeName {
  return asVolumeName(`node.volume-${index}`);
}

const disk = { fsType: "ext4", source: "/dev/sda1", device: "8:1" } as const;

const forms: { readonly [type in VolumeType]: (index: number, key: string) => Form } = {
  memory: (index, key) => memory("emptyDir", index, key),
  secret: (index, key) => memory("secret", index, key),
  disk: (_index, key) => ({ ...disk, kind: "directory", type: "emptyDir", root: `${settings.stateDir}/data/${key}` }),
  configMap: (_index, key) => ({
    ...disk,
    kind: "directory",
    type: "configMap",
    root: `${settings.stateDir}/data/${key}`,
  }),
  hostPath: (index) => ({ ...disk, kind: "path", type: "hostPath", root: `/srv/${index % 2}` }),
  directory: (index) => ({ ...disk, kind: "path", type: "local", root: `/srv/${index % 2}` }),
  device: (index) => ({
    kind: "filesystem",
    type: "local",
    fsType: "xfs",
    source: `/dev/vd${index}`,
    device: `252:${index}`,
    root: "/",
    deviceNumber: `252:${index}`,
  }),
  block: (index) => ({
    kind: "device",
    type: "local",
    fsType: "devtmpfs",
    source: "dev",
    device: "0:6",
    root: `/vd${index}`,
    deviceNumber: `252:${index}`,
  }),
  nfs: (index) => ({
    kind: "filesystem",
    type: "nfs",
    fsType: "nfs4",
    source: `server:/export-${index}`,
    device: `0:${70 + index}`,
    root: "/",
  }),
};

function memory(type: SourceType, index: number, key: string): Form {
  return {
    kind: "filesystem",
    type,
    fsType: "tmpfs",
    source: `nodevolume-${key}`,
    device: `0:${50 + index}`,
    root: "/",
  };
}

/** The journal's word on a volume that is staged. */
export function stageRecord(
  volume: StagedVolume,
  more: Pick<StageRecord, "ready" | "options"> & { identityKnown: boolean; contentVersion: string | undefined },
): StageRecord {
  const { kind, path, fileKind, identity, deviceNumber } = volume;
  const { ready, options, identityKnown, contentVersion } = more;
  if (!ready && !identityKnown) return { kind, path, ready, options };
  return {
    kind,
    path,
    ready,
    options,
    fileKind,
    identity,
    ...(kind === "directory" && { directory: { device: 2049, inode: 77 } }),
    ...(deviceNumber !== undefined && { deviceNumber }),
    ...(contentVersion !== undefined && { contentVersion }),
  };
}
