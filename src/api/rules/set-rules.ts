import { hasTrait, isSized } from "../source-traits.ts";
import type {
  AllowedNamespaces,
  IntentMount,
  NamespaceRequirement,
  NodeLossPolicy,
  NodeVolumeIntentSpec,
  NodeVolumeSet,
  NodeVolumeSetSpec,
  SetMount,
  VolumeTemplate,
} from "../types.gen.ts";
import { type Checks, isBeneath } from "./rule.ts";

type Spec = NodeVolumeSetSpec | NodeVolumeIntentSpec;
type Mounts = readonly (SetMount | IntentMount)[];

const volumeOf = (spec: Spec): VolumeTemplate => ("volume" in spec ? spec.volume : spec);

/** Rules of a set and of an intent, between the volume, its mounts, the pods that may use it, and its policies. */
export const setRules: Checks = {
  distinctTargets: (mounts: Mounts) =>
    mounts.every((a, i) => mounts.every((b, j) => i === j || (a.path !== b.path && !isBeneath(b.path, a.path)))),
  blockHasNoOptions: (spec: Spec) =>
    volumeOf(spec).volumeMode === "Filesystem" || spec.mounts.every((m) => (m.mountOptions ?? []).length === 0),
  blockIsWritable: (spec: Spec) => volumeOf(spec).volumeMode === "Filesystem" || spec.mounts.every((m) => !m.readOnly),
  groupIsGiven: (spec: Spec) => {
    const { source, volumeMode } = volumeOf(spec);
    if (volumeMode === "Filesystem" && hasTrait(source, "group")) return true;
    return spec.mounts.every((m) => m.fsGroup === undefined);
  },
  swapIsOfNode: (spec: Spec) => {
    if (volumeOf(spec).fsType !== "swap") return true;
    const hasPods = "volume" in spec ? spec.allowedNamespaces !== undefined : (spec.pods ?? []).length > 0;
    return spec.mode === "Manage" && spec.adopt === "Never" && spec.mounts.length === 0 && !hasPods;
  },
  labelHasDriver: (spec: Spec) => {
    const { source, volumeMode } = volumeOf(spec);
    if (volumeMode === "Filesystem" && (source.csi !== undefined || source.persistentVolumeClaim !== undefined))
      return true;
    return spec.mounts.every((m) => m.seLinuxOptions === undefined);
  },
  policyHasGroup: ({ fsGroup, fsGroupChangePolicy }: SetMount | IntentMount) =>
    fsGroupChangePolicy === undefined || fsGroup !== undefined,
  devicesAreUsable: (spec: Spec) => {
    const type = volumeOf(spec).source.hostPath?.type;
    if (type !== "CharDevice" && type !== "BlockDevice") return true;
    return spec.mounts.every((m) => !m.readOnly && !(m.mountOptions ?? []).includes("nodev"));
  },
  sourceIsNotCovered: (spec: Spec) => {
    const { hostPath, local } = volumeOf(spec).source;
    const path = hostPath?.path ?? local?.path; // of a disk that is chosen nobody knows it yet
    return path === undefined || spec.mounts.every((m) => path !== m.path && !isBeneath(path, m.path));
  },
  retainNeedsManage: (spec: Spec) => spec.mode === "Manage" || spec.deletionPolicy === "Unmount",
  payloadIsNotRetained: (spec: Spec) => {
    const { configMap, secret, downwardAPI, projected } = volumeOf(spec).source;
    const shown = [configMap, secret, downwardAPI, projected].some((source) => source !== undefined);
    return !shown || spec.deletionPolicy === "Unmount";
  },
  attachedIsNotRetained: (spec: Spec) => {
    return !hasTrait(volumeOf(spec).source, "attached") || spec.deletionPolicy === "Unmount";
  },
  capacityHasDriver: ({ capacity, volume: { source, volumeMode } }: NodeVolumeSetSpec) => {
    const isRawFromAfar = volumeMode === "Block" && hasTrait(source, "disk") && hasTrait(source, "attached");
    return capacity === undefined || (isSized(source) && !isRawFromAfar);
  },
  adoptable: (spec: Spec) => {
    return spec.adopt === "Never" || hasTrait(volumeOf(spec).source, "adoptable");
  },
  adoptedByPath: (spec: Spec) => {
    const { local } = volumeOf(spec).source;
    if (spec.adopt === "Never" || local === undefined) return true;
    return local.path !== undefined && local.encryption === undefined;
  },
  releaseUnmounts: (spec: NodeVolumeSetSpec) => spec.drainPolicy !== "Release" || spec.deletionPolicy === "Unmount",
  observerHasNoGrant: (spec: NodeVolumeIntentSpec) => spec.mode === "Manage" || spec.grant === undefined,
  grantSaysVolume: ({ grant, source: { csi, persistentVolumeClaim } }: NodeVolumeIntentSpec) =>
    grant === undefined || (csi === undefined && persistentVolumeClaim === undefined) || grant.csi !== undefined,
  secondsWithTimeout: ({ type, timeoutSeconds }: NodeLossPolicy) =>
    (type === "AfterTimeout") === (timeoutSeconds !== undefined),
  nameIsLabelValue: ({ metadata }: NodeVolumeSet) => metadata.name.length <= 63,
  notEmptyText: (text: string) => text !== "",
  oneTimeOption: (options: readonly string[]) =>
    options.filter((option) => ["noatime", "relatime", "strictatime"].includes(option)).length <= 1,
  noOpposites: (options: readonly string[]) => !options.some((option) => options.includes(`no${option}`)),
  namesOrSelector: ({ names, selector }: AllowedNamespaces) => names !== undefined || selector !== undefined,
  valuesFitOperator: ({ operator, values = [] }: NamespaceRequirement) =>
    (operator === "In" || operator === "NotIn") === values.length > 0,
  observedIsNotManaged: ({ mode, observed }: NodeVolumeIntentSpec) => mode === "Observe" || observed === undefined,
};
