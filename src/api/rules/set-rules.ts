import { hasTrait, isSized } from "../source-traits.ts";
import type {
  IntentMount,
  NodeLossPolicy,
  NodeVolumeIntentSpec,
  NodeVolumeSet,
  NodeVolumeSetSpec,
  SetMount,
  VolumeTemplate,
} from "../types.gen.ts";
import { type Check, type Checks, isBeneath } from "./rule.ts";

type Spec = NodeVolumeSetSpec | NodeVolumeIntentSpec;
type Mounts = readonly (SetMount | IntentMount)[];

const volumeOf = (spec: Spec): VolumeTemplate => ("volume" in spec ? spec.volume : spec);

const distinctTargets: Check<Mounts> = (mounts) =>
  mounts.every((a, i) => mounts.every((b, j) => i === j || (a.path !== b.path && !isBeneath(b.path, a.path))));

const blockHasNoOptions: Check<Spec> = (spec) =>
  volumeOf(spec).volumeMode === "Filesystem" || spec.mounts.every((m) => (m.mountOptions ?? []).length === 0);

const blockIsWritable: Check<Spec> = (spec) =>
  volumeOf(spec).volumeMode === "Filesystem" || spec.mounts.every((m) => !m.readOnly);

const groupIsGiven: Check<Spec> = (spec) => {
  const { source, volumeMode } = volumeOf(spec);
  if (volumeMode === "Filesystem" && hasTrait(source, "group")) return true;
  return spec.mounts.every((m) => m.fsGroup === undefined);
};

const swapIsOfNode: Check<Spec> = (spec) => {
  if (volumeOf(spec).fsType !== "swap") return true;
  const hasPods = "volume" in spec ? spec.allowedNamespaces !== undefined : (spec.pods ?? []).length > 0;
  return spec.mode === "Manage" && spec.adopt === "Never" && spec.mounts.length === 0 && !hasPods;
};

const labelHasDriver: Check<Spec> = (spec) => {
  const { source, volumeMode } = volumeOf(spec);
  if (volumeMode === "Filesystem" && (source.csi !== undefined || source.persistentVolumeClaim !== undefined))
    return true;
  return spec.mounts.every((m) => m.seLinuxOptions === undefined);
};

const policyHasGroup: Check<SetMount | IntentMount> = ({ fsGroup, fsGroupChangePolicy }) =>
  fsGroupChangePolicy === undefined || fsGroup !== undefined;

const devicesAreUsable: Check<Spec> = (spec) => {
  const type = volumeOf(spec).source.hostPath?.type;
  if (type !== "CharDevice" && type !== "BlockDevice") return true;
  return spec.mounts.every((m) => !m.readOnly && !(m.mountOptions ?? []).includes("nodev"));
};

const sourceIsNotCovered: Check<Spec> = (spec) => {
  const { hostPath, local } = volumeOf(spec).source;
  const path = hostPath?.path ?? local?.path; // of a disk that is chosen nobody knows it yet
  return path === undefined || spec.mounts.every((m) => path !== m.path && !isBeneath(path, m.path));
};

const retainNeedsManage: Check<Spec> = (spec) => spec.mode === "Manage" || spec.deletionPolicy === "Unmount";

const payloadIsNotRetained: Check<Spec> = (spec) => {
  const { configMap, secret, downwardAPI, projected } = volumeOf(spec).source;
  const shown = [configMap, secret, downwardAPI, projected].some((source) => source !== undefined);
  return !shown || spec.deletionPolicy === "Unmount";
};

const attachedIsNotRetained: Check<Spec> = (spec) => {
  return !hasTrait(volumeOf(spec).source, "attached") || spec.deletionPolicy === "Unmount";
};

const capacityHasDriver: Check<NodeVolumeSetSpec> = ({ capacity, volume: { source, volumeMode } }) => {
  const isRawFromAfar = volumeMode === "Block" && hasTrait(source, "disk") && hasTrait(source, "attached");
  return capacity === undefined || (isSized(source) && !isRawFromAfar);
};

const adoptable: Check<Spec> = (spec) => {
  return spec.adopt === "Never" || hasTrait(volumeOf(spec).source, "adoptable");
};

const adoptedByPath: Check<Spec> = (spec) => {
  const { local } = volumeOf(spec).source;
  if (spec.adopt === "Never" || local === undefined) return true;
  return local.path !== undefined && local.encryption === undefined;
};

const releaseUnmounts: Check<NodeVolumeSetSpec> = (spec) =>
  spec.drainPolicy !== "Release" || spec.deletionPolicy === "Unmount";

const observerHasNoGrant: Check<NodeVolumeIntentSpec> = (spec) => spec.mode === "Manage" || spec.grant === undefined;

const grantSaysVolume: Check<NodeVolumeIntentSpec> = ({ grant, source: { csi, persistentVolumeClaim } }) =>
  grant === undefined || (csi === undefined && persistentVolumeClaim === undefined) || grant.csi !== undefined;

const secondsWithTimeout: Check<NodeLossPolicy> = ({ type, timeoutSeconds }) =>
  (type === "AfterTimeout") === (timeoutSeconds !== undefined);

const nameIsLabelValue: Check<NodeVolumeSet> = ({ metadata }) => metadata.name.length <= 63;

const notEmptyText: Check<string> = (text) => text !== "";

const oneTimeOption: Check<readonly string[]> = (options) =>
  options.filter((option) => ["noatime", "relatime", "strictatime"].includes(option)).length <= 1;

const noOpposites: Check<readonly string[]> = (options) => !options.some((option) => options.includes(`no${option}`));

/** Rules of a set and of an intent, between the volume, its mounts and its policies. */
export const setRules: Checks = {
  nameIsLabelValue,
  notEmptyText,
  distinctTargets,
  swapIsOfNode,
  blockHasNoOptions,
  blockIsWritable,
  groupIsGiven,
  labelHasDriver,
  policyHasGroup,
  devicesAreUsable,
  sourceIsNotCovered,
  retainNeedsManage,
  payloadIsNotRetained,
  attachedIsNotRetained,
  capacityHasDriver,
  adoptable,
  adoptedByPath,
  releaseUnmounts,
  observerHasNoGrant,
  grantSaysVolume,
  secondsWithTimeout,
  noOpposites,
  oneTimeOption,
};
