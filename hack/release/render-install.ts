import { nameOf, type Target } from "../lib/image/dockerfile.ts";
import { kustomize } from "./kustomize.ts";

export interface Image {
  readonly name: string;
  /** One of the two. */
  readonly tag?: string;
  readonly digest?: string;
}

/** The images that the manifests name. */
const installed = ["controller", "agent"] as const satisfies readonly Target[];
export type Installed = { readonly [T in (typeof installed)[number]]: Image };

/** PURE. @throws Error if the image has neither tag nor digest: `latest` would be another program tomorrow */
export function imageOf(reference: string): Image {
  const [, name = "", digest] = /^([^@\s]+)@(sha256:[0-9a-f]{64})$/.exec(reference) ?? [];
  if (digest !== undefined) return { name, digest };
  const [, tagged = "", tag] = /^([^@\s]+):([\w][\w.-]{0,127})$/.exec(reference) ?? [];
  if (tag !== undefined) return { name: tagged, tag };
  throw new Error(`--image ${reference}: name it with its tag or digest, NAME:TAG or NAME@sha256:DIGEST`);
}

/**
 * PURE. The references of `--image WHICH=REFERENCE`, one for each image.
 * @param known what WHICH may be, each with the reference that it has if none is given; undefined if one must be
 * @throws Error if one is missing, unknown, or named twice
 */
export function referencesIn<T extends string>(
  given: readonly string[],
  known: { readonly [Which in T]: string | undefined },
): { readonly [Which in T]: string } {
  const references: { [which: string]: string | undefined } = { ...known };
  const named = new Set<string>();
  for (const one of given) {
    const [, which = "", reference = ""] = /^([a-z-]+)=(\S+)$/.exec(one) ?? [];
    if (!Object.hasOwn(known, which))
      throw new Error(`--image ${one}: WHICH=REFERENCE, of ${Object.keys(known).join(", ")}`);
    if (named.has(which)) throw new Error(`--image ${one}: ${which} is named twice`);
    named.add(which);
    references[which] = reference;
  }
  const missing = Object.keys(known).filter((which) => references[which] === undefined);
  if (missing.length > 0)
    throw new Error(missing.map((which) => `--image ${which}=REFERENCE is needed: what you pushed`).join("\n"));
  return references as { readonly [Which in T]: string };
}

/** PURE. The two of them as images. @throws Error if one has neither tag nor digest */
export function installedOf(references: { readonly [T in keyof Installed]: string }): Installed {
  return { controller: imageOf(references.controller), agent: imageOf(references.agent) };
}

/** config/default as one text, with the images that are given, in the order in which it applies. */
export async function installYaml({
  references,
  kubectl,
}: {
  references: { readonly [T in keyof Installed]: string };
  kubectl: string;
}): Promise<string> {
  const images = Object.entries(installedOf(references)).map(([target, { name, tag, digest }]) => ({
    name: nameOf(target as keyof Installed),
    newName: name,
    ...(tag && { newTag: tag }),
    ...(digest && { digest }),
  }));
  const yaml = await kustomize(kubectl, { more: { images } });
  const named = installed.map((target) => references[target]).join(" and ");
  return `# node-volume-operator: kubectl apply --server-side -f FILE\n# Of config/default, images ${named}.\n${yaml}`;
}
