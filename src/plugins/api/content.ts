import type { LabelSelector } from "../../api/label-selector.ts";

/** Something of the API whose content is shown. `name` names it in messages. */
export type ContentRef = ObjectRef | NodeFieldsRef | TokenRef | TrustBundleRef;

/** A ConfigMap or Secret that a volume shows. */
export interface ObjectRef {
  readonly kind: "ConfigMap" | "Secret";
  readonly namespace: string;
  readonly name: string;
  /** Whether a volume is shown empty while the object is not there. */
  readonly optional: boolean;
}

/** Fields of the node's own Node object: the data has each by its path. */
export interface NodeFieldsRef {
  readonly kind: "Node";
  readonly name: string;
  readonly fields: readonly string[];
}

/** A token of a ServiceAccount, bound to the Node: the data has it as `token`. */
export interface TokenRef {
  readonly kind: "ServiceAccount";
  readonly namespace: string;
  readonly name: string;
  readonly nodeName: string;
  /** Undefined: the API server. */
  readonly audience: string | undefined;
  readonly expirationSeconds: number;
}

/** One bundle by its name, or those of a signer that labels select: the data has their certificates as `bundle`. */
export interface TrustBundleRef {
  readonly kind: "ClusterTrustBundle";
  /** Of the bundle, or of the signer. */
  readonly name: string;
  /** Undefined: one bundle by its name. */
  readonly selector: LabelSelector | "none" | undefined;
  readonly optional: boolean;
}

/** Content as it is shown, in memory only. */
export interface ObjectContent {
  /**
   * Equal versions have equal content: UID and resourceVersion that an object had when it got this content, `none` for
   * an optional object that is not there. No secret.
   */
  readonly version: string;
  readonly data: ReadonlyMap<string, Uint8Array>;
}

/**
 * PURE. A Secret that a volume is mounted or opened with. Member by member, in the order of contentKey: the API server
 * orders those of a reference as it likes.
 */
export function secretContent({ namespace, name }: { readonly namespace: string; readonly name: string }): ObjectRef {
  return { kind: "Secret", namespace, name, optional: false };
}

/** What two refs have in common that show the same. */
export function contentKey(ref: ContentRef): string {
  return JSON.stringify({ ...ref, optional: undefined });
}
