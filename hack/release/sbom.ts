// What a release is made of, as SPDX 2.3: what esbuild took into the bundles, what stands beside them, and what the image is built from.

export interface LockEntry {
  readonly version?: string;
  readonly license?: string;
  readonly integrity?: string;
}

export interface SbomInput {
  readonly version: string;
  /** When the commit was made. */
  readonly created: Date;
  /** Files of the bundles of the image, and of kubectl-nvi. */
  readonly image: readonly string[];
  readonly cli: readonly string[];
  /** Keys of the lock file of what the image has beside its bundles. */
  readonly beside: readonly string[];
  readonly lock: { readonly [path: string]: LockEntry };
  readonly dockerfile: string;
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

/** PURE. What the Dockerfile has apt-get install, by name: which version, the package lists of the day say. */
export function debianPackagesIn(dockerfile: string): string[] {
  const [, list = ""] = /apt-get install ((?:.*\\\n)*.*)/.exec(dockerfile) ?? [];
  const words = list.split("&&")[0]?.replaceAll("\\\n", " ").split(/\s+/) ?? [];
  return words.filter((word) => word !== "" && !word.startsWith("-")).sort();
}

/** PURE. The document, as JSON. */
export function sbomOf(input: SbomInput): string {
  const { version, lock, dockerfile } = input;
  const image = [...packagesOf(input.image, lock), ...input.beside].sort();
  const cli = packagesOf(input.cli, lock);
  const npm = [...new Set([...image, ...cli])].sort().map((key) => npmPackage(key, lock[key] ?? {}));
  const debian = debianPackagesIn(dockerfile).map((name) => ({
    ...described(`Debian-${name}`, name, undefined, `pkg:deb/debian/${name}`),
    comment: "as Debian has it when the image is built; /var/lib/dpkg/status of the image says which version",
  }));
  const [, base = ""] = /^FROM (\S+) AS tools$/m.exec(dockerfile) ?? [];
  const [baseName = "", baseTag = ""] = base.split(":");
  const from = described("base-image", baseName, baseTag, `pkg:docker/${baseName}@${baseTag}`);
  const own = (name: string) => described(name, name, version, `pkg:generic/${name}@${version}`, "Apache-2.0");
  const holds = (whole: string, parts: readonly string[]) => parts.map((part) => related(whole, "CONTAINS", part));
  const document = {
    spdxVersion: "SPDX-2.3",
    dataLicense: "CC0-1.0",
    SPDXID: "SPDXRef-DOCUMENT",
    name: `node-volume-operator-${version}`,
    documentNamespace: `https://nodevolume.dev/spdx/node-volume-operator-${version}-${input.created.getTime() / 1_000}`,
    creationInfo: {
      created: input.created.toISOString().replace(".000Z", "Z"),
      creators: [`Tool: node-volume-operator-release-${version}`],
    },
    packages: [own("node-volume-operator"), own("kubectl-nvi"), from, ...debian, ...npm],
    relationships: [
      related("DOCUMENT", "DESCRIBES", "node-volume-operator"),
      related("DOCUMENT", "DESCRIBES", "kubectl-nvi"),
      ...holds("node-volume-operator", ["base-image", ...debianPackagesIn(dockerfile).map((name) => `Debian-${name}`)]),
      ...holds("node-volume-operator", image.map(npmID)),
      ...holds("kubectl-nvi", cli.map(npmID)),
    ],
  };
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

function related(whole: string, relationshipType: string, part: string) {
  return { spdxElementId: `SPDXRef-${whole}`, relationshipType, relatedSpdxElement: `SPDXRef-${part}` };
}

function described(id: string, name: string, versionInfo: string | undefined, purl: string, licence = "NOASSERTION") {
  return {
    SPDXID: `SPDXRef-${id.replace(/[^\w.-]/g, "-").replaceAll("_", "-")}`,
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
    ...described(npmID(key), name, version, `pkg:npm/${name.replace("@", "%40")}@${version}`, license),
    ...(sha512 !== undefined && { checksums: [{ algorithm: "SHA512", checksumValue }] }),
  };
}

function npmID(key: string): string {
  return `npm-${key.replaceAll("node_modules/", "").replace(/[^A-Za-z0-9.-]/g, "-")}`;
}
