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
import { byteLength, type Checks, isBeneath, unique } from "./rule.ts";

const isQuantity = (size: number | string) => /^\d+([.]\d+)?(Ki|Mi|Gi|Ti|Pi|k|M|G|T|P)?$/.test(`${size}`);

/** As lowerAscii() of CEL. */
const lowerASCII = (text: string) => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

const isPortal = (a: string, b: string) => a === b || `${a}:3260` === b || a === `${b}:3260`;

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
  exactlyOne: (source: VolumeSource) => Object.keys(source).length === 1,
  pathDiskOrVolume: ({ path, disk, lvm }: LocalVolumeSource) =>
    [path, disk, lvm].filter((named) => named !== undefined).length === 1,
  oneKey: ({ secretRef, randomKey }: DiskEncryption) => (secretRef !== undefined) !== (randomKey === true),
  saysMoreThanEmpty: (disk: object) => !("empty" in disk) || Object.keys(disk).length > 1,
  saysSomething: (disk: DiskSelector) => Object.keys(disk).length > 0,
  sizesInOrder: ({ minSize, maxSize }: DiskSelector) => {
    if (minSize === undefined || maxSize === undefined) return true;
    const [least, most] = [minSize, maxSize].map((size) => (isQuantity(size) ? quantityBytes(size) : undefined));
    return least === undefined || most === undefined || least <= most;
  },
  size: (value: number | string, [pattern]) => {
    if (pattern?.test(`${value}`) !== true) return false;
    const bytes = quantityBytes(value);
    return bytes >= 1n << 16n && bytes <= 1n << 50n;
  },
  /** PATH_MAX is 4096 with what the agent puts in front, NAME_MAX is 255 bytes: 63 characters of at most four bytes. */
  pathLength: (path: string) =>
    byteLength(path) <= 2048 &&
    path.split("/").every((name) => [...name].length <= (byteLength(name) > name.length ? 63 : 255)),
  relativePath: (path: string, [unwanted]) => byteLength(path) <= 255 && unwanted?.test(path) === false,
  shortKeys: (attributes: { readonly [key: string]: string }) =>
    Object.keys(attributes).every((key) => [...key].length <= 128),
  noNUL: (attributes: { readonly [key: string]: string }) =>
    Object.entries(attributes).every(([key, value]) => !key.includes("\0") && !value.includes("\0")),
  noneOfKubelet: (options: { readonly [key: string]: string }, [reserved]) =>
    Object.keys(options).every((key) => key === "kubernetes.io/pvOrVolumeName" || !reserved?.test(lowerASCII(key))),
  notOwnDriver: (driver: string) => lowerASCII(driver) !== podDriver,
  secretAllowed: ({ secretRef, secretInArguments }: FlexVolumeSource) =>
    secretRef === undefined || secretInArguments === "Allow",
  secretForSSH: ({ repository, secretRef }: GitVolumeSource) =>
    !repository.startsWith("ssh:") || secretRef !== undefined,
  noSecretInTheClear: ({ repository, secretRef }: GitVolumeSource) =>
    !repository.startsWith("http:") || secretRef === undefined,
  secretHasUse: ({ secretRef, chapAuthSession, chapAuthDiscovery }: ISCSIVolumeSource) =>
    (secretRef !== undefined) === (chapAuthSession === true || chapAuthDiscovery === true),
  repositoryAddress: (value: string, [whole, numeric]) => {
    if (whole?.test(value) !== true) return false;
    if (value.includes("[")) return isIPv6(value.slice(value.indexOf("[") + 1, value.indexOf("]")));
    const authority = value.split("/")[2] ?? "";
    return numeric?.test(value) !== true || isIPv4(authority.slice(authority.indexOf("@") + 1).split(":")[0] ?? "");
  },
  imageAddress: (value: string, [whole, numeric]) => {
    if (whole?.test(value) !== true) return false;
    if (value.startsWith("[")) return isIPv6(value.slice(1, value.indexOf("]")));
    return numeric?.test(value) !== true || isIPv4(value.split("/")[0]?.split(":")[0] ?? "");
  },
  distinctPortals: (portals: readonly string[]) =>
    portals.every((a) => portals.filter((b) => isPortal(a, b)).length === 1),
  furtherPortals: ({ targetPortal, portals = [] }: ISCSIVolumeSource) =>
    !portals.some((further) => isPortal(further, targetPortal)),
  portal: (value: string, [bracketed, , withPort, hostName]) => {
    if (value.startsWith("[")) return bracketed?.test(value) === true && isIPv6(value.slice(1, value.indexOf("]")));
    if (/^[0-9.]+(:\d*)?$/.test(value)) return withPort?.test(value) === true && isIPv4(value.split(":")[0] ?? "");
    return hostName?.test(value) === true;
  },
  referenceOrLayout: ({ reference, layout }: ImageVolumeSource) => (reference === undefined) !== (layout === undefined),
  secretForRegistry: ({ layout, secretRef }: ImageVolumeSource) => layout === undefined || secretRef === undefined,
  whereOrWhat: ({ targetWWNs, lun, wwids }: FCVolumeSource) =>
    (targetWWNs !== undefined) === (lun !== undefined) && (targetWWNs !== undefined) === (wwids === undefined),
  oneDataset: ({ datasetName, datasetUUID }: FlockerVolumeSource) =>
    (datasetName === undefined) !== (datasetUUID === undefined),
  distinctPaths: (items: readonly KeyToPath[]) => unique(items.map(({ path }) => path)),
  noFileAsDirectory: (items: readonly KeyToPath[]) => !items.some((a) => items.some((b) => isBeneath(b.path, a.path))),
  server: (value: string, [, numeric, hostName]) => {
    if (value.startsWith("[")) return value.endsWith("]") && isIPv6(value.slice(1, -1));
    if (numeric?.test(value) === true) return isIPv4(value);
    return hostName?.test(value) === true;
  },
  monitorAddress: (value: string, [bracketed, numeric]) =>
    value.startsWith("[")
      ? bracketed?.test(value) === true && isIPv6(value.slice(1, value.indexOf("]")))
      : numeric?.test(value) === true && isIPv4(value.split(":")[0] ?? ""),
  monitor: (value: string, [bracketed, numeric, named]) => {
    if (value.startsWith("[")) return bracketed?.test(value) === true && isIPv6(value.slice(1, value.indexOf("]")));
    if (numeric?.test(value) === true) return isIPv4(value.split(":")[0] ?? "");
    return named?.test(value) === true;
  },
  byAddress: ({ client, monitors }: CephFSVolumeSource, [numeric]) =>
    client !== "Kernel" || monitors.every((at) => at.startsWith("[") || numeric?.test(at) === true),
  ...contentRules,
};
