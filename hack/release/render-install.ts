import { kustomize } from "./kustomize.ts";

/** What the manifests call the image. */
const imageName = "node-volume-operator";

export interface Image {
  readonly name: string;
  /** One of the two. */
  readonly tag?: string;
  readonly digest?: string;
}

/** PURE. @throws Error if the image has neither tag nor digest: `latest` would be another program tomorrow */
export function imageOf(reference: string): Image {
  const [, name = "", digest] = /^([^@\s]+)@(sha256:[0-9a-f]{64})$/.exec(reference) ?? [];
  if (digest !== undefined) return { name, digest };
  const [, tagged = "", tag] = /^([^@\s]+):([\w][\w.-]{0,127})$/.exec(reference) ?? [];
  if (tag !== undefined) return { name: tagged, tag };
  throw new Error(`--image ${reference}: name it with its tag or digest, NAME:TAG or NAME@sha256:DIGEST`);
}

/** config/default as one text, with the image that is given, in the order in which it applies. */
export async function installYaml({ image, kubectl }: { image: string; kubectl: string }): Promise<string> {
  const { name, tag, digest } = imageOf(image);
  const images = [{ name: imageName, newName: name, ...(tag && { newTag: tag }), ...(digest && { digest }) }];
  const yaml = await kustomize(kubectl, { more: { images } });
  return `# node-volume-operator: kubectl apply --server-side -f FILE\n# Of config/default, image ${image}.\n${yaml}`;
}
