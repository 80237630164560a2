import { hasTrait } from "../source-traits.ts";
import type { VolumeTemplate } from "../types.gen.ts";
import { optionName } from "../values/mount-options.ts";
import { type Check, type Checks, unique } from "./rule.ts";

// The fields of a volume stand in `volume` of a set and in the spec of an intent: these checks take either.

const optionsOf = (volume: VolumeTemplate): readonly string[] => volume.mountOptions ?? [];

const allowedFor =
  (...types: readonly string[]): Check<VolumeTemplate> =>
  (volume, [pattern]) => {
    const { nfs, cifs } = volume.source;
    const type = nfs !== undefined ? "nfs" : cifs !== undefined ? "cifs" : fsTypeOf(volume);
    if (type === undefined || !types.includes(type)) return true;
    return optionsOf(volume).every(
      (option) => (type === "ext4" && option === "journal_checksum") || pattern?.test(option) === true,
    );
  };

const optionsOfSource =
  (type: "glusterfs" | "cephfs" | "csi"): Check<VolumeTemplate> =>
  (volume, [pattern]) =>
    volume.source[type] === undefined || optionsOf(volume).every((option) => pattern?.test(option) === true);

/** Whether it is a disk that is mounted here, with the file system that is on it. */
function isDiskFilesystem({ source, volumeMode }: VolumeTemplate): boolean {
  return hasTrait(source, "disk") && volumeMode === "Filesystem";
}

/** Of disks that come from afar, core/v1 has it in the source. */
function fsTypeOf({ source: { iscsi, fc }, fsType }: VolumeTemplate): string | undefined {
  const afar = iscsi ?? fc;
  return afar === undefined ? fsType : afar.fsType;
}

/** Rules of a volume: its mode, its file system, and the options of that. */
export const volumeRules: Checks = {
  blockHasDevice: ({ volumeMode, source }: VolumeTemplate) => volumeMode === "Filesystem" || hasTrait(source, "block"),
  fsTypeIsLocal: ({ fsType, source, volumeMode }: VolumeTemplate) =>
    fsType === undefined || (source.local !== undefined && volumeMode === "Filesystem"),
  destroyedIsFormatted: ({ destroyAllDataOnDevices = [], source, fsType }: VolumeTemplate) =>
    destroyAllDataOnDevices.length === 0 || (source.local !== undefined && fsType !== undefined),
  labelIsMade: ({ source, fsType }: VolumeTemplate) => source.local?.fsLabel === undefined || fsType !== undefined,
  randomIsSwap: ({ source, fsType }: VolumeTemplate) =>
    source.local?.encryption?.randomKey !== true || fsType === "swap",
  optionsHaveFilesystem: (volume: VolumeTemplate) =>
    optionsOf(volume).length === 0 ||
    hasTrait(volume.source, "options") ||
    volume.source.cephfs?.client === "Kernel" ||
    isDiskFilesystem(volume) ||
    (volume.source.csi !== undefined && volume.volumeMode === "Filesystem"),
  optionsHaveFsType: (volume: VolumeTemplate) =>
    optionsOf(volume).length === 0 || !isDiskFilesystem(volume) || fsTypeOf(volume) !== undefined,
  ofNfs3: (volume: VolumeTemplate) => {
    const options = optionsOf(volume);
    const needs = (option: string) =>
      ["proto=udp", "proto=udp6", "lock", "nolock"].includes(option) || option.startsWith("mountport=");
    return volume.source.nfs === undefined || !options.some(needs) || options.some((o) => /^(nfs)?vers=3$/.test(o));
  },
  oneOption: (option: string) => !option.includes(","),
  onceWithOneValue: (options: readonly string[]) => unique(options.map(optionName)),
  consistent: (options: readonly string[]) =>
    !options.some((option) => options.includes(`no${optionName(option)}`)) &&
    options.filter((option) => ["hard", "soft", "softerr"].includes(option)).length <= 1 &&
    options.filter((option) => /^(nfs)?vers=/.test(option)).length <= 1 &&
    (!options.includes("noquota") || options.filter((option) => option.endsWith("quota")).length === 1),
  nfsOptions: allowedFor("nfs"),
  glusterfsOptions: optionsOfSource("glusterfs"),
  cephfsOptions: optionsOfSource("cephfs"),
  cifsOptions: allowedFor("cifs"),
  ext2Options: allowedFor("ext2"),
  ext4Options: allowedFor("ext3", "ext4"),
  xfsOptions: allowedFor("xfs"),
  btrfsOptions: allowedFor("btrfs"),
  swapOptions: allowedFor("swap"),
  csiOptions: optionsOfSource("csi"),
};
