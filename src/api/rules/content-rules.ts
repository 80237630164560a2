import type {
  ClusterTrustBundleProjection,
  DownwardAPIVolumeFile,
  NodeResourceSelector,
  VolumeProjection,
} from "../types.gen.ts";
import { type Check, type Checks, isBeneath } from "./rule.ts";

type Paths = readonly { readonly path: string }[];

const collide = (path: string, other: string) => other === path || isBeneath(other, path);

/** Paths of sources of one kind are compared with those of all others. */
const distinctSources =
  (kind: keyof VolumeProjection): Check<readonly VolumeProjection[]> =>
  (sources) =>
    sources.every(
      (a) =>
        a[kind] === undefined ||
        pathsOf(a).every(
          (path) => sources.filter((b) => pathsOf(b).some((other) => collide(path, other))).length === 1,
        ),
    );

/** The paths that a source names; keys that are shown under their own names are not known here. */
function pathsOf({
  configMap,
  secret,
  downwardAPI,
  serviceAccountToken,
  clusterTrustBundle,
}: VolumeProjection): string[] {
  const items: Paths = configMap?.items ?? secret?.items ?? downwardAPI?.items ?? [];
  const [single] = [serviceAccountToken, clusterTrustBundle].flatMap((source) => source ?? []);
  return single === undefined ? items.map(({ path }) => path) : [single.path];
}

/** Rules of volumes that show content of several sources, or of the Node. */
export const contentRules: Checks = {
  distinctFiles: (items: Paths) => items.every((a) => items.filter((b) => collide(a.path, b.path)).length === 1),
  oneProjection: (source: VolumeProjection) => Object.keys(source).length === 1,
  oneField: ({ fieldRef, resourceFieldRef }: DownwardAPIVolumeFile) =>
    (fieldRef === undefined) !== (resourceFieldRef === undefined),
  nodeField: (path: string, [pattern]) =>
    pattern?.test(path) === true && (!path.endsWith("]") || (path.includes("['") && path.endsWith("']"))),
  milliIsCpu: ({ divisor, resource }: NodeResourceSelector) => divisor !== "1m" || resource.endsWith(".cpu"),
  nameOrSigner: ({ name, signerName }: ClusterTrustBundleProjection) =>
    (name === undefined) !== (signerName === undefined),
  selectsOfSigner: ({ labelSelector, signerName }: ClusterTrustBundleProjection) =>
    labelSelector === undefined || signerName !== undefined,
  configMapPaths: distinctSources("configMap"),
  secretPaths: distinctSources("secret"),
  downwardAPIPaths: distinctSources("downwardAPI"),
  tokenPaths: distinctSources("serviceAccountToken"),
  trustBundlePaths: distinctSources("clusterTrustBundle"),
};
