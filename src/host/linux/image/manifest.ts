import { listed } from "../../../api/values/listed.ts";
import { VolumeError } from "../../../errors.ts";
import type { ImageReference } from "./reference.ts";

/** For people: where it is, and which one. */
export type NamedImage = Pick<ImageReference, "repository" | "digest">;

/** A layer, as a manifest names it. */
export interface Layer {
  readonly digest: string;
  readonly size: number;
}

/** The manifest of one platform, or where that is. */
export type Manifest = { readonly layers: readonly Layer[] } | { readonly manifest: string };

/**
 * Archives, of OCI and of Docker, also those that registries were once not to give away. How they are compressed their
 * bytes say (decompressed.ts).
 */
const archive =
  /^application\/vnd\.(oci\.image\.layer(\.nondistributable)?\.v1\.tar(\+gzip|\+zstd)?|docker\.image\.rootfs(\.foreign)?\.diff\.tar(\.gzip|\.zstd)?)$/;

/** What a manifest or an index may be, of OCI and of Docker. */
export const manifestTypes = [
  "application/vnd.oci.image.manifest.v1+json",
  "application/vnd.oci.image.index.v1+json",
  "application/vnd.docker.distribution.manifest.v2+json",
  "application/vnd.docker.distribution.manifest.list.v2+json",
];

const mostLayers = 512;

/** Names of processors, as images have them, by process.arch. */
const architectures: ReadonlyMap<string, string> = new Map([
  ["x64", "amd64"],
  ["arm64", "arm64"],
]);

/**
 * PURE. What a manifest says, or, of an index, which manifest is for this machine.
 * @param arch process.arch
 * @throws VolumeError RevisionNotFound, ContentRefused
 */
export function readManifest(bytes: Buffer, arch: string, { repository, digest }: NamedImage): Manifest {
  const what = `${repository}@${digest}`;
  const refuse = (why: string) => new VolumeError("ContentRefused", "final", `${what} ${why}: name another image`);
  const manifest = objectOf(parsed(bytes));
  const { manifests, layers } = manifest;
  if (Array.isArray(manifests)) {
    const digest = digestOf(forMachine(manifests.map(objectOf), architectures.get(arch) ?? arch, what));
    if (digest === undefined) throw refuse("names an image without sha256 digest");
    return { manifest: digest };
  }
  if (!Array.isArray(layers)) throw refuse("is neither an image nor an index of images");
  if (layers.length > mostLayers) throw refuse(`has more than ${mostLayers} layers`);
  return {
    layers: layers.map((value) => {
      const layer = objectOf(value);
      const { mediaType, size } = layer;
      const name = digestOf(layer);
      if (!archive.test(String(mediaType)))
        throw refuse(`has a layer of the type ${String(mediaType).slice(0, 128)}, which is no file system`);
      if (name === undefined || typeof size !== "number" || !Number.isSafeInteger(size) || size < 0) {
        throw refuse("has a layer without size or sha256 digest");
      }
      return { digest: name, size };
    }),
  };
}

type Entry = { readonly [name: string]: unknown };

/** What processors of a kind all are: an entry that names this variant is for each of them, as one that names none. */
const baselines: ReadonlyMap<string, string> = new Map([
  ["amd64", "v1"],
  ["arm64", "v8"],
]);

/**
 * PURE. The entry of an index that is for this machine: best one for each processor of its kind, else one for some, as
 * nothing of it is run, else the only one that does not say what it is for.
 */
function forMachine(entries: readonly Entry[], architecture: string, what: string): Entry {
  const platforms = entries.map((entry) => ({ entry, of: objectOf(entry["platform"]) }));
  const ours = platforms.filter(({ of }) => of["os"] === "linux" && of["architecture"] === architecture);
  const forEach = ours.find(({ of }) => ["", undefined, baselines.get(architecture)].includes(of["variant"] as string));
  const silent = platforms.filter(({ of }) => of["architecture"] === undefined);
  const found = forEach ?? ours[0] ?? (silent.length === 1 ? silent[0] : undefined);
  if (found !== undefined) return found.entry;
  const others = platforms.map(({ of }) =>
    of["architecture"] === undefined ? "?" : `${of["os"]}/${of["architecture"]}`.slice(0, 64),
  );
  const message = `${what} has nothing for linux/${architecture}, but for ${listed([...new Set(others)], 8)}: name an image that has, or other nodes`;
  throw new VolumeError("RevisionNotFound", "final", message);
}

/** PURE. JSON, or undefined if it is none. */
export function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    return undefined; // no object, so nothing that is asked for
  }
}

/** PURE. An object as it is, of anything else an empty one. */
export function objectOf(value: unknown): { readonly [name: string]: unknown } {
  return typeof value === "object" && value !== null ? (value as { readonly [name: string]: unknown }) : {};
}

function digestOf({ digest }: { readonly [name: string]: unknown }): string | undefined {
  return typeof digest === "string" && /^sha256:[0-9a-f]{64}$/.test(digest) ? digest : undefined;
}
