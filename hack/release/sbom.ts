// What an image or a program of a release is made of, as SPDX 2.3: what esbuild took into its bundles, what stands
// beside them, and what the image is built from.
import { debianPackagesIn, hasWholeBase, type Target } from "../lib/image/dockerfile.ts";

export interface LockEntry {
  readonly version?: string;
  readonly license?: string;
  readonly integrity?: string;
}

export interface SbomInput {
  /** Of the image or program that the document is of. */
  readonly name: string;
  readonly version: string;
  /** When the commit was made. */
  readonly created: Date;
  /** Files of its bundles. */
  readonly files: readonly string[];
  /** Keys of the lock file of what is beside the bundles. */
  readonly beside?: readonly string[];
  readonly lock: { readonly [path: string]: LockEntry };
  /** What an image is built from; a program has nothing of it. */
  readonly image?: {
    readonly dockerfile: string;
    readonly target: Target;
    /** NAME:TAG, NAME@DIGEST or NAME:TAG@DIGEST of the base. */
    readonly base: string;
  };
}

/** PURE. Keys of the lock file of the packages that files are of. @throws Error if one is not in the lock file */
export function packagesOf(files: readonly string[], lock: SbomInput["lock"]): string[] {
  const keys = new Set<string>();
  for (const file of files) {
    const [, key] = /(?:^|\/)(node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+)\//.exec(file) ?? [];
    if (key !== undefined) keys.add(key);
  }
  for (const key of keys) if (lock[key] === undefined) throw new Error(`package-lock.json has no ${key}`);
  return [...keys].sort();
}

/** Debian's packages of the base that an image without all of the base has: those that Node is linked to. */
const libraries = ["libc6", "libgcc-s1", "libstdc++6"];

/**
 * PURE. Debian's packages of an image beside those that its base has, if it has all of that, by name.
 * @param architecture Debian's name of one: without what is left out there
 */
export function debianPackagesOf(dockerfile: string, target: Target, architecture?: string): string[] {
  const ofBase = hasWholeBase(dockerfile, target) ? [] : libraries;
  return [...ofBase, ...debianPackagesIn(dockerfile, target, architecture)].sort();
}

/** PURE. The document of one image or program, as JSON. */
export function sbomOf({ name, version, created, files, beside = [], lock, image }: SbomInput): string {
  const npm = [...packagesOf(files, lock), ...beside].sort().map((key) => npmPackage(key, lock[key] ?? {}));
  const parts = [...(image === undefined ? [] : partsOf(image)), ...npm];
  const whole = described(name, name, version, `pkg:generic/${name}@${version}`, "Apache-2.0");
  const document = {
    spdxVersion: "SPDX-2.3",
    dataLicense: "CC0-1.0",
    SPDXID: "SPDXRef-DOCUMENT",
    name: `${name}-${version}`,
    documentNamespace: `https://nodevolume.dev/spdx/${name}-${version}-${created.getTime() / 1_000}`,
    creationInfo: {
      created: created.toISOString().replace(".000Z", "Z"),
      creators: [`Tool: node-volume-operator-release-${version}`],
    },
    packages: [whole, ...parts],
    relationships: [
      related("SPDXRef-DOCUMENT", "DESCRIBES", whole.SPDXID),
      ...parts.map(({ SPDXID }) => related(whole.SPDXID, "CONTAINS", SPDXID)),
    ],
  };
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

/** What an image has that is not npm's. */
function partsOf({ dockerfile, target, base }: NonNullable<SbomInput["image"]>) {
  const [, name = "", tag = "", digest] = /^(.+?)(?::([\w][\w.-]*))?(?:@(sha256:\w+))?$/.exec(base) ?? [];
  const [node = "NOASSERTION"] = /^\d+\.\d+\.\d+/.exec(tag) ?? [];
  const onArm64 = debianPackagesOf(dockerfile, target, "arm64");
  const debian = debianPackagesOf(dockerfile, target).map((one) => ({
    ...described(`Debian-${one}`, one, undefined, `pkg:deb/debian/${one}`),
    comment: `${onArm64.includes(one) ? "" : "not in the image for arm64; "}as Debian has it when the image is built; /var/lib/dpkg of the image says which version`,
  }));
  const whole = described("base-image", name, digest ?? tag, `pkg:docker/${name}@${digest ?? tag}`);
  return [
    described("runtime-node", "node", node, `pkg:generic/node@${node}`, "MIT"),
    ...(hasWholeBase(dockerfile, target) ? [whole] : []),
    ...debian,
  ];
}

function related(spdxElementId: string, relationshipType: string, relatedSpdxElement: string) {
  return { spdxElementId, relationshipType, relatedSpdxElement };
}

function described(id: string, name: string, versionInfo: string | undefined, purl: string, licence = "NOASSERTION") {
  return {
    SPDXID: `SPDXRef-${id.replace(/[^A-Za-z0-9.-]/g, "-")}`,
    name,
    ...(versionInfo !== undefined && { versionInfo }),
    downloadLocation: "NOASSERTION",
    filesAnalyzed: false,
    licenseConcluded: "NOASSERTION",
    licenseDeclared: licence,
    copyrightText: "NOASSERTION",
    externalRefs: [{ referenceCategory: "PACKAGE-MANAGER", referenceType: "purl", referenceLocator: purl }],
  };
}

function npmPackage(key: string, { version = "", license, integrity }: LockEntry) {
  const name = key.slice(key.lastIndexOf("node_modules/") + "node_modules/".length);
  const [, sha512] = /^sha512-(.+)$/.exec(integrity ?? "") ?? [];
  const checksumValue = Buffer.from(sha512 ?? "", "base64").toString("hex");
  return {
    ...described(
      `npm-${key.replaceAll("node_modules/", "")}`,
      name,
      version,
      `pkg:npm/${name.replace("@", "%40")}@${version}`,
      license,
    ),
    ...(sha512 !== undefined && { checksums: [{ algorithm: "SHA512", checksumValue }] }),
  };
}
