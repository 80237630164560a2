import type { VolumeSource } from "./types.gen.ts";

/** What is to be known of a kind of source without its plugin: the controller and the schema's checks have none. */
export interface SourceTraits<S> {
  /**
   * What people call such a volume: the part behind the last slash goes into the names of its intents. Nothing: it is
   * called by its type.
   */
  name(source: S): string | undefined;
  /** It may be handed on as a block device (volumeMode Block). */
  readonly block?: true;
  /** It is a disk whose file system is mounted here: fsType and mountOptions are of that. */
  readonly disk?: true;
  /** It takes mountOptions, whatever volumeMode says. */
  readonly options?: true;
  /** It stays with a node beyond its mounts: attached, logged in, mapped. */
  readonly attached?: true;
  /**
   * Nodes can reach one and the same, and its file system is made for one of them: it is granted to one node at a time.
   */
  readonly guarded?: true;
  /** Files may be given to a group: its plugin says how (Layout.group), or its driver does it. */
  readonly group?: true;
  /** A mount of somebody else can be the same volume (adopt: IfSame). */
  readonly adoptable?: true;
  /** Whether a set says what size such a volume has. */
  sized?(source: S): boolean;
}

/** The type of a volume's source: the name of its field. */
export type SourceType = keyof VolumeSource;

/** Of every kind of source: the compiler says which one is missing. */
export const sourceTraits: { readonly [T in SourceType]-?: SourceTraits<NonNullable<VolumeSource[T]>> } = {
  emptyDir: { name: nothing, group: true }, // it is called as its set
  hostPath: { name: ({ path }) => path, adoptable: true },
  local: {
    name: ({ path, lvm, disk: { byID, serial, wwid, model } = {} }) =>
      path ?? lvm?.logicalVolume ?? byID ?? serial ?? wwid ?? model,
    ...{ block: true, disk: true, group: true, adoptable: true },
    sized: ({ lvm }) => lvm !== undefined,
  },
  configMap: { name: ({ name }) => name, group: true },
  secret: { name: ({ secretName }) => secretName, group: true },
  downwardAPI: { name: nothing, group: true },
  projected: {
    name({ sources: [first] }) {
      return first?.configMap?.name ?? first?.secret?.name ?? first?.serviceAccountToken?.serviceAccountName;
    },
    group: true,
  },
  git: { name: ({ repository }) => repository.replace(/(\.git)?\/?$/, ""), group: true },
  image: { name: ({ layout, reference }) => layout?.path ?? reference?.replace(/(:[^:@/]*)?@.*$/, ""), group: true },
  nfs: { name: ({ path }) => path, options: true, adoptable: true },
  glusterfs: { name: ({ path }) => path, options: true },
  cifs: { name: ({ share }) => share, options: true, adoptable: true },
  cephfs: { name: ({ path }) => path },
  rbd: { name: ({ image }) => image, attached: true, guarded: true },
  iscsi: {
    name: ({ iqn, lun }) => `${iqn.split(":").at(-1)} ${lun}`,
    ...{ block: true, disk: true, attached: true, guarded: true, group: true },
    sized: () => true,
  },
  fc: {
    name: ({ targetWWNs: [port] = [], lun, wwids: [name] = [] }) => name ?? (port && `${port} ${lun}`),
    ...{ block: true, disk: true, attached: true, guarded: true, group: true },
    sized: () => true,
  },
  csi: {
    name: ({ volumeHandle }) => volumeHandle.replaceAll("/", "-"),
    ...{ block: true, attached: true, guarded: true, group: true },
  },
  // Not guarded: decision 0062 says why.
  flexVolume: { name: ({ driver }) => driver, attached: true, sized: () => true },
  flocker: { name: ({ datasetName, datasetUUID }) => datasetName ?? datasetUUID },
  persistentVolumeClaim: {
    name: ({ claimName }) => claimName,
    ...{ block: true, attached: true, guarded: true, group: true },
  },
};

/** Every kind of source. */
export const sourceTypes = Object.keys(sourceTraits) as readonly SourceType[];

type Trait = Exclude<keyof SourceTraits<never>, "name" | "sized">;

/** PURE. Whether a source, or any of its members while nobody has said that there is but one, is of this kind. */
export function hasTrait(source: VolumeSource, trait: Trait): boolean {
  return sourceTypes.some((type) => source[type] !== undefined && sourceTraits[type][trait] === true);
}

/** PURE. Whether the node itself uses the volume, as swap: it is wanted without mounts and pods. */
export function isOfNodeItself({ fsType }: { readonly fsType?: string }): boolean {
  return fsType === "swap";
}

/**
 * PURE. Whether it may be a disk that other nodes reach under other names, so that the controller compares it
 * (docs/decisions/0098).
 */
export function isCompared({ local, iscsi, fc }: VolumeSource): boolean {
  return iscsi !== undefined || fc !== undefined || (local !== undefined && local.lvm === undefined);
}

/** PURE. Whether a set says what size the volume has. */
export function isSized(source: VolumeSource): boolean {
  return sourceTypes.some((type) => ofSource(source, type)?.sized === true);
}

/** PURE. What people call it; "" if nothing says so. */
export function nameOfSource(source: VolumeSource): string {
  const [named] = sourceTypes.flatMap((type) => ofSource(source, type)?.name ?? []);
  return named?.split("/").at(-1) ?? "";
}

function ofSource<T extends SourceType>(source: VolumeSource, type: T) {
  const member = source[type];
  if (member === undefined) return undefined;
  const { name, sized } = sourceTraits[type] as SourceTraits<NonNullable<VolumeSource[T]>>;
  return { name: name(member), sized: sized?.(member) === true };
}

function nothing(): undefined {
  return undefined;
}
