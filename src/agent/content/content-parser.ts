import { hash } from "node:crypto";
import { selectorText } from "../../api/label-selector.ts";
import type { KubeObject } from "../../api/meta.ts";
import { type Resource, resource } from "../../api/names.ts";
import type { KubeClient } from "../../kube/client/client.ts";
import { stringsIn } from "../../kube/json.ts";
import type {
  ContentRef,
  NodeFieldsRef,
  ObjectContent,
  ObjectRef,
  TokenRef,
  TrustBundleRef,
} from "../../plugins/api/content.ts";
import { type NodeObject, nodeField } from "../../plugins/files/node-fields.ts";
import { certificatesOf } from "./certificates.ts";

/** How content is read that objects of the API server hold. */
export interface ReadContent {
  readonly selection: {
    readonly resource: Resource;
    readonly namespace?: string;
    readonly fieldSelector?: string;
    readonly labelSelector?: string;
  };
  /** What is kept of an object. */
  project(raw: unknown): KubeObject;
  /** Of the objects that there are; undefined if what is named is not there. */
  content(objects: readonly KubeObject[]): ObjectContent | undefined;
  /** A plain read of the same, which is refused if the watch is. */
  ask(client: KubeClient): Promise<unknown>;
}

/** How a content of this kind is read from the API server: which requests, and how their answers become files. */
export function contentParser(ref: Exclude<ContentRef, TokenRef>): ReadContent {
  if (ref.kind === "Node") return readingOfNode(ref);
  return ref.kind === "ClusterTrustBundle" ? readingOfBundles(ref) : readingOfObject(ref);
}

/** An object with its content decoded. */
interface ContentObject extends KubeObject {
  readonly content: ObjectContent;
}

function readingOfObject(ref: ObjectRef): ReadContent {
  const of = ref.kind === "ConfigMap" ? resource.configMaps : resource.secrets;
  return {
    selection: { resource: of, namespace: ref.namespace, fieldSelector: `metadata.name=${ref.name}` },
    project: (raw) => decode(ref, raw),
    content: (objects) => named(ref, objects as readonly ContentObject[]),
    ask: (client) => client.get(of, ref),
  };
}

function readingOfNode({ name, fields }: NodeFieldsRef): ReadContent {
  return {
    selection: { resource: resource.nodes, fieldSelector: `metadata.name=${name}` },
    project(raw) {
      const node = raw as NodeObject & KubeObject; // of a typed, built-in resource
      const { metadata } = node;
      // Text, whatever came.
      const data = new Map(fields.map((field) => [field, Buffer.from(`${nodeField(node, field)}`)]));
      const { uid = "", resourceVersion = "" } = metadata;
      return { metadata: { name, uid, resourceVersion }, content: { version: `${uid}/${resourceVersion}`, data } };
    },
    content: (objects) => named({ name }, objects as readonly ContentObject[]),
    ask: (client) => client.get(resource.nodes, { name }),
  };
}

interface BundleObject extends KubeObject {
  readonly signer: string;
  readonly certificates: readonly string[];
}

function readingOfBundles({ name, selector }: TrustBundleRef): ReadContent {
  const of = resource.clusterTrustBundles;
  const fieldSelector = selector === undefined ? `metadata.name=${name}` : `spec.signerName=${name}`;
  const labelSelector = selector === undefined || selector === "none" ? "" : selectorText(selector);
  const selection = { resource: of, fieldSelector, ...(labelSelector !== "" && { labelSelector }) };
  return {
    selection,
    project(raw) {
      const object = raw as KubeObject & { spec?: { signerName?: string; trustBundle?: string } }; // as above
      const { signerName: signer = "", trustBundle = "" } = object.spec ?? {};
      return { metadata: object.metadata, signer, certificates: certificatesOf(trustBundle) } as KubeObject;
    },
    content(objects) {
      const bundles = (objects as readonly BundleObject[]).filter((bundle) =>
        selector === undefined ? bundle.metadata.name === name : selector !== "none" && bundle.signer === name,
      );
      if (bundles.length === 0) return undefined;
      const all = bundles.flatMap(({ certificates }) => certificates);
      const text = [...new Set(all)].sort().join(""); // in no order of theirs, as kubelet: nobody may rely on one
      return {
        version: `sha256/${hash("sha256", text, "hex").slice(0, 32)}`,
        data: new Map([["bundle", Buffer.from(text)]]),
      };
    },
    ask: (client) =>
      client.list(of, { fieldSelector, labelSelector: labelSelector === "" ? undefined : labelSelector }),
  };
}

function named(ref: { readonly name: string; readonly namespace?: string }, objects: readonly ContentObject[]) {
  return objects.find(({ metadata }) => metadata.name === ref.name && metadata.namespace === ref.namespace)?.content;
}

function decode(ref: ObjectRef, raw: unknown): ContentObject {
  const { metadata } = raw as KubeObject;
  const { uid = "", resourceVersion = "" } = metadata;
  // Strings alone: of {"length": 1e9} Buffer.from makes a gigabyte.
  const bytes = (field: string, encoding: BufferEncoding) =>
    stringsIn(raw, field).map(([key, value]): [string, Uint8Array] => [key, Buffer.from(value, encoding)]);
  const text = bytes("data", ref.kind === "Secret" ? "base64" : "utf8");
  const data = new Map([...text, ...bytes("binaryData", "base64")]);
  return { metadata, content: { version: `${uid}/${resourceVersion}`, data } };
}
