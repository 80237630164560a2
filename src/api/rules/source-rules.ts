import { podDriver } from "../names.ts";
import type {
  CephFSVolumeSource,
  DiskEncryption,
  DiskSelector,
  FCVolumeSource,
  FlexVolumeSource,
  FlockerVolumeSource,
  GitVolumeSource,
  ImageVolumeSource,
  ISCSIVolumeSource,
  KeyToPath,
  LocalVolumeSource,
  VolumeSource,
} from "../types.gen.ts";
import { quantityBytes } from "../values/quantity.ts";
import { contentRules } from "./content-rules.ts";
import { byteLength, type Check, type Checks, isBeneath, unique } from "./rule.ts";

const exactlyOne: Check<VolumeSource> = (source) => Object.keys(source).length === 1;

const pathDiskOrVolume: Check<LocalVolumeSource> = ({ path, disk, lvm }) =>
  [path, disk, lvm].filter((named) => named !== undefined).length === 1;

const oneKey: Check<DiskEncryption> = ({ secretRef, randomKey }) => (secretRef !== undefined) !== (randomKey === true);

const saysMoreThanEmpty = (disk: object) => !("empty" in disk) || Object.keys(disk).length > 1;
const saysSomething: Check<DiskSelector> = (disk) => Object.keys(disk).length > 0;

const sizesInOrder: Check<DiskSelector> = ({ minSize, maxSize }) => {
  if (minSize === undefined || maxSize === undefined) return true;
  const [least, most] = [minSize, maxSize].map((size) => (isQuantity(size) ? quantityBytes(size) : undefined));
  return least === undefined || most === undefined || least <= most;
};

const isQuantity = (size: number | string) => /^\d+([.]\d+)?(Ki|Mi|Gi|Ti|Pi|k|M|G|T|P)?$/.test(`${size}`);

const size: Check<number | string> = (value, [pattern]) => {
  if (pattern?.test(`${value}`) !== true) return false;
  const bytes = quantityBytes(value);
  return bytes >= 1n << 16n && bytes <= 1n << 50n;
};

/** PATH_MAX is 4096 with what the agent puts in front, NAME_MAX is 255 bytes: 63 characters of at most four bytes. */
const pathLength: Check<string> = (path) =>
  byteLength(path) <= 2048 &&
  path.split("/").every((name) => [...name].length <= (byteLength(name) > name.length ? 63 : 255));

const relativePath: Check<string> = (path, [unwanted]) => byteLength(path) <= 255 && unwanted?.test(path) === false;

const shortKeys: Check<{ readonly [key: string]: string }> = (attributes) =>
  Object.keys(attributes).every((key) => [...key].length <= 128);

const noNUL: Check<{ readonly [key: string]: string }> = (attributes) =>
  Object.entries(attributes).every(([key, value]) => !key.includes("\0") && !value.includes("\0"));

const noneOfKubelet: Check<{ readonly [key: string]: string }> = (options, [reserved]) =>
  Object.keys(options).every((key) => key === "kubernetes.io/pvOrVolumeName" || !reserved?.test(lowerASCII(key)));

const notOwnDriver: Check<string> = (driver) => lowerASCII(driver) !== podDriver;

/** As lowerAscii() of CEL. */
const lowerASCII = (text: string) => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

const secretAllowed: Check<FlexVolumeSource> = ({ secretRef, secretInArguments }) =>
  secretRef === undefined || secretInArguments === "Allow";

const secretForSSH: Check<GitVolumeSource> = ({ repository, secretRef }) =>
  !repository.startsWith("ssh:") || secretRef !== undefined;

const noSecretInTheClear: Check<GitVolumeSource> = ({ repository, secretRef }) =>
  !repository.startsWith("http:") || secretRef === undefined;

const secretHasUse: Check<ISCSIVolumeSource> = ({ secretRef, chapAuthSession, chapAuthDiscovery }) =>
  (secretRef !== undefined) === (chapAuthSession === true || chapAuthDiscovery === true);

const repositoryAddress: Check<string> = (value, [whole, numeric]) => {
  if (whole?.test(value) !== true) return false;
  if (value.includes("[")) return isIPv6(value.slice(value.indexOf("[") + 1, value.indexOf("]")));
  const authority = value.split("/")[2] ?? "";
  return numeric?.test(value) !== true || isIPv4(authority.slice(authority.indexOf("@") + 1).split(":")[0] ?? "");
};

const imageAddress: Check<string> = (value, [whole, numeric]) => {
  if (whole?.test(value) !== true) return false;
  if (value.startsWith("[")) return isIPv6(value.slice(1, value.indexOf("]")));
  return numeric?.test(value) !== true || isIPv4(value.split("/")[0]?.split(":")[0] ?? "");
};

const isPortal = (a: string, b: string) => a === b || `${a}:3260` === b || a === `${b}:3260`;

const distinctPortals: Check<readonly string[]> = (portals) =>
  portals.every((a) => portals.filter((b) => isPortal(a, b)).length === 1);

const furtherPortals: Check<ISCSIVolumeSource> = ({ targetPortal, portals = [] }) =>
  !portals.some((further) => isPortal(further, targetPortal));

const portal: Check<string> = (value, [bracketed, , withPort, hostName]) => {
  if (value.startsWith("[")) return bracketed?.test(value) === true && isIPv6(value.slice(1, value.indexOf("]")));
  if (/^[0-9.]+(:\d*)?$/.test(value)) return withPort?.test(value) === true && isIPv4(value.split(":")[0] ?? "");
  return hostName?.test(value) === true;
};

const referenceOrLayout: Check<ImageVolumeSource> = ({ reference, layout }) =>
  (reference === undefined) !== (layout === undefined);

const secretForRegistry: Check<ImageVolumeSource> = ({ layout, secretRef }) =>
  layout === undefined || secretRef === undefined;

const whereOrWhat: Check<FCVolumeSource> = ({ targetWWNs, lun, wwids }) =>
  (targetWWNs !== undefined) === (lun !== undefined) && (targetWWNs !== undefined) === (wwids === undefined);

const oneDataset: Check<FlockerVolumeSource> = ({ datasetName, datasetUUID }) =>
  (datasetName === undefined) !== (datasetUUID === undefined);

const distinctPaths: Check<readonly KeyToPath[]> = (items) => unique(items.map(({ path }) => path));

const noFileAsDirectory: Check<readonly KeyToPath[]> = (items) =>
  !items.some((a) => items.some((b) => isBeneath(b.path, a.path)));

const server: Check<string> = (value, [, numeric, hostName]) => {
  if (value.startsWith("[")) return value.endsWith("]") && isIPv6(value.slice(1, -1));
  if (numeric?.test(value) === true) return isIPv4(value);
  return hostName?.test(value) === true;
};

const monitorAddress: Check<string> = (value, [bracketed, numeric]) =>
  value.startsWith("[")
    ? bracketed?.test(value) === true && isIPv6(value.slice(1, value.indexOf("]")))
    : numeric?.test(value) === true && isIPv4(value.split(":")[0] ?? "");

const monitor: Check<string> = (value, [bracketed, numeric, named]) => {
  if (value.startsWith("[")) return bracketed?.test(value) === true && isIPv6(value.slice(1, value.indexOf("]")));
  if (numeric?.test(value) === true) return isIPv4(value.split(":")[0] ?? "");
  return named?.test(value) === true;
};

const byAddress: Check<CephFSVolumeSource> = ({ client, monitors }, [numeric]) =>
  client !== "Kernel" || monitors.every((at) => at.startsWith("[") || numeric?.test(at) === true);

function isIPv4(text: string): boolean {
  const parts = text.split(".");
  return parts.length === 4 && parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255);
}

/** Without a zone and without an IPv4 address in it, which CEL's isIP refuses too. */
function isIPv6(text: string): boolean {
  const [head = [], tail, ...more] = text.split("::").map((half) => (half === "" ? [] : half.split(":")));
  const zeros = tail === undefined ? 0 : 8 - head.length - tail.length;
  const groups = [...head, ...Array<string>(Math.max(zeros, 0)).fill("0"), ...(tail ?? [])];
  const values = groups.map((group) => (/^[0-9a-f]{1,4}$/i.test(group) ? Number.parseInt(group, 16) : Number.NaN));
  if (more.length > 0 || (tail !== undefined && zeros < 1) || values.length !== 8) return false;
  const mapped = values.slice(0, 5).every((value) => value === 0) && values[5] === 0xffff;
  return !mapped && !values.some(Number.isNaN);
}

/** Rules of VolumeSource and beneath, and of paths. */
export const sourceRules: Checks = {
  exactlyOne,
  pathDiskOrVolume,
  oneKey,
  saysSomething,
  saysMoreThanEmpty,
  sizesInOrder,
  size,
  pathLength,
  relativePath,
  shortKeys,
  noNUL,
  noneOfKubelet,
  notOwnDriver,
  repositoryAddress,
  imageAddress,
  secretAllowed,
  referenceOrLayout,
  secretForRegistry,
  secretForSSH,
  noSecretInTheClear,
  secretHasUse,
  portal,
  distinctPortals,
  furtherPortals,
  whereOrWhat,
  oneDataset,
  distinctPaths,
  noFileAsDirectory,
  server,
  monitor,
  monitorAddress,
  byAddress,
  ...contentRules,
};
