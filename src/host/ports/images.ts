/** What lets the node in at a registry. Secret: it is handed on by memory, and is in no message. */
export interface RegistryAccess {
  /** Value of the HTTP header, for the registry and for where it sends for tokens. */
  readonly authorization?: string;
  /** Further certificates, as PEM, by which the registry is known: also one on the node itself is asked by TLS then. */
  readonly authorities?: string;
}

/** A directory of the node. */
export interface ImageLayoutPlace {
  /** The node's root as the agent sees it. */
  readonly root: string;
  readonly path: string;
}

/** A container image, and where its files go. */
export interface UnpackRequest {
  /** Data directory of ours, which is there: the files go to `tree` in it. */
  readonly directory: string;
  /** The digest says what comes, whoever sends it, and whoever has written the directory. */
  readonly from:
    | { readonly reference: string; readonly access?: RegistryAccess }
    | { readonly layout: ImageLayoutPlace; readonly digest: string };
  /** Most bytes that all layers have, unpacked. */
  readonly sizeLimit: number;
}

/** Images of registries that speak the distribution specification of OCI, and of image layouts of OCI. */
export interface Images {
  /**
   * Makes `tree` in the directory show the image of this machine's platform, layer over layer, all at once and durably.
   * Always in a child of its own. `new` is left beside it where it failed, for the caller to throw away: neither may be
   * there before. Fails with ServerUnreachable, SourceNotFound, RepositoryRefused, RevisionNotFound, ContentRefused,
   * ContentTooLarge.
   * @param onProgress told how far it is
   */
  unpack(request: UnpackRequest, onProgress: (message: string) => void): Promise<void>;
}
