// What npm installs to build the images: of the repository's packages those that end up in a bundle, or that make it.

export interface Manifest {
  readonly [field: string]: unknown;
  readonly dependencies: Names;
  readonly devDependencies: Names;
}

export interface Lock {
  readonly [field: string]: unknown;
  readonly packages: { readonly [path: string]: LockPackage };
}

type Names = { readonly [name: string]: string };

interface LockPackage {
  readonly dependencies?: Names;
  readonly optionalDependencies?: Names;
  readonly peerDependencies?: Names;
}

/** What makes the bundles: the only one of devDependencies that the build starts. */
const builders = ["esbuild"];

/**
 * PURE. package.json and package-lock.json with the packages of the bundles and their builder, in the versions of the
 * lock file. Programs of the tests are not in them, nor is the Node that the repository brings for machines with an
 * older one.
 * @throws Error if the lock file lacks a package that one of them needs
 */
export function packagesForBuild(manifest: Manifest, lock: Lock): { manifest: Manifest; lock: Lock } {
  // How modules are read depends on `type`: without it, what is imported from a package is another thing.
  const { name, version, type, dependencies, overrides } = manifest;
  const devDependencies = Object.fromEntries(builders.map((one) => [one, manifest.devDependencies[one] ?? ""]));
  const root = { name, version, dependencies, devDependencies };
  const reached = new Set<string>();
  const visit = (from: string, { dependencies, optionalDependencies, peerDependencies }: LockPackage) => {
    const needed = { ...peerDependencies, ...dependencies, ...optionalDependencies };
    for (const one of Object.keys(needed)) {
      const path = resolved(from, one, lock.packages);
      if (path === undefined && dependencies?.[one] !== undefined && optionalDependencies?.[one] === undefined)
        throw new Error(`package-lock.json has no ${one} for ${from || "package.json"}`);
      if (path === undefined || reached.has(path)) continue;
      reached.add(path);
      visit(path, lock.packages[path] as LockPackage);
    }
  };
  visit("", { dependencies: { ...dependencies, ...devDependencies } });
  const kept = Object.entries(lock.packages).filter(([path]) => reached.has(path));
  return {
    manifest: { ...root, type, private: true, ...(overrides !== undefined && { overrides }) },
    lock: { ...lock, packages: { "": root, ...Object.fromEntries(kept) } },
  };
}

/** Where Node finds a package that one at `from` asks for: beneath it, or beneath a folder above it. */
function resolved(from: string, name: string, packages: Lock["packages"]): string | undefined {
  for (let at = from; ; at = at.slice(0, Math.max(at.lastIndexOf("node_modules/") - 1, 0))) {
    const path = `${at === "" ? "" : `${at}/`}node_modules/${name}`;
    if (packages[path] !== undefined) return path;
    if (at === "") return undefined;
  }
}
