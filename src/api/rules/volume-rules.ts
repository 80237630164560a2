import { hasTrait } from "../source-traits.ts";
import type { VolumeTemplate } from "../types.gen.ts";
import { type Check, type Checks, unique } from "./rule.ts";

// The fields of a volume stand in `volume` of a set and in the spec of an intent: these checks take either.

const optionsOf = (volume: VolumeTemplate): readonly string[] => volume.mountOptions ?? [];
const keyOf = (option: string): string => option.split("=")[0] ?? option;

const blockHasDevice: Check<VolumeTemplate> = ({ volumeMode, source }) =>
  volumeMode === "Filesystem" || hasTrait(source, "block");

const fsTypeIsLocal: Check<VolumeTemplate> = ({ fsType, source, volumeMode }) =>
  fsType === undefined || (source.local !== undefined && volumeMode === "Filesystem");

const destroyedIsFormatted: Check<VolumeTemplate> = ({ destroyAllDataOnDevices = [], source, fsType }) =>
  destroyAllDataOnDevices.length === 0 || (source.local !== undefined && fsType !== undefined);

const labelIsMade: Check<VolumeTemplate> = ({ source, fsType }) =>
  source.local?.fsLabel === undefined || fsType !== undefined;

const randomIsSwap: Check<VolumeTemplate> = ({ source, fsType }) =>
  source.local?.encryption?.randomKey !== true || fsType === "swap";

const optionsHaveFilesystem: Check<VolumeTemplate> = (volume) =>
  optionsOf(volume).length === 0 ||
  hasTrait(volume.source, "options") ||
  volume.source.cephfs?.client === "Kernel" ||
  isDiskFilesystem(volume) ||
  (volume.source.csi !== undefined && volume.volumeMode === "Filesystem");

const optionsHaveFsType: Check<VolumeTemplate> = (volume) =>
  optionsOf(volume).length === 0 || !isDiskFilesystem(volume) || fsTypeOf(volume) !== undefined;

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

const ofNfs3: Check<VolumeTemplate> = (volume) => {
  const options = optionsOf(volume);
  const needs = (option: string) =>
    ["proto=udp", "proto=udp6", "lock", "nolock"].includes(option) || option.startsWith("mountport=");
  return volume.source.nfs === undefined || !options.some(needs) || options.some((o) => /^(nfs)?vers=3$/.test(o));
};

const oneOption: Check<string> = (option) => !option.includes(",");

const onceWithOneValue: Check<readonly string[]> = (options) => unique(options.map(keyOf));

const consistent: Check<readonly string[]> = (options) =>
  !options.some((option) => options.includes(`no${keyOf(option)}`)) &&
  options.filter((option) => ["hard", "soft", "softerr"].includes(option)).length <= 1 &&
  options.filter((option) => /^(nfs)?vers=/.test(option)).length <= 1 &&
  (!options.includes("noquota") || options.filter((option) => option.endsWith("quota")).length === 1);

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
  blockHasDevice,
  fsTypeIsLocal,
  destroyedIsFormatted,
  labelIsMade,
  randomIsSwap,
  optionsHaveFilesystem,
  optionsHaveFsType,
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
  ofNfs3,
  oneOption,
  onceWithOneValue,
  consistent,
};
