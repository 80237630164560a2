/** How large a cluster is pretended, and what its pods use. */
export interface Shape {
  readonly nodes: number;
  readonly podsPerNode: number;
  readonly podsPerNamespace: number;
  /** Each how many-th pod uses claims; 1: all. */
  readonly oneInUses: number;
  /** Claims of a pod that it names itself, and so leaves to kubelet. */
  readonly ordinary: number;
  /** Claims of a pod by csi.nodevolume.dev, each reserved by its owner. */
  readonly ours: number;
  /** Whether the driver of the ordinary claims attaches: then each has a VolumeAttachment of kubelet's side. */
  readonly attached: boolean;
  /**
   * Whether the intents of the pods are there at first, all granted and mounted: a cluster that our controller has
   * served before.
   */
  readonly established: boolean;
  /** Pods that are not there at first, though their claims are. */
  readonly spare: number;
}

export const drivers = { ordinary: "disk.example.com", ours: "files.example.com" } as const;

/** All that follows from a shape: which object has which index. Pure. */
export interface Names {
  readonly shape: Shape;
  /** That are there at first. */
  readonly pods: number;
  readonly namespaces: number;
  readonly claimsPerPod: number;
  /** Also those of the spare pods. */
  readonly claims: number;
  node(index: number): string;
  namespace(index: number): string;
  namespaceOfPod(pod: number): string;
  /** Indices of the pods of a namespace that are there at first. */
  podsOf(namespace: string): Iterable<number>;
  nodeOfPod(pod: number): string;
  pod(index: number): string;
  /** Pods that use claims have them one after the other: those of the others have no index. */
  uses(pod: number): boolean;
  claimsOf(pod: number): readonly number[];
  podOfClaim(claim: number): number;
  isOurs(claim: number): boolean;
  claim(index: number): string;
  persistentVolume(claim: number): string;
  /** The number that a name ends in; undefined if it has none. */
  indexIn(name: string): number | undefined;
}

export function namesOf(shape: Shape): Names {
  const { nodes, podsPerNode, oneInUses, ordinary, ours } = shape;
  const pods = nodes * podsPerNode;
  const namespaces = Math.max(1, Math.ceil(pods / shape.podsPerNamespace));
  const claimsPerPod = ordinary + ours;
  const users = Math.ceil((pods + shape.spare) / oneInUses);
  const padded = (index: number) => String(index).padStart(6, "0");
  const namespace = (index: number) => `team-${padded(index)}`;
  const indexIn = (name: string) => {
    const [, digits] = /-(\d{6,})$/.exec(name) ?? [];
    return digits === undefined ? undefined : Number(digits);
  };
  return {
    shape,
    pods,
    namespaces,
    claimsPerPod,
    claims: users * claimsPerPod,
    node: (index) => `node-${padded(index)}`,
    namespace,
    namespaceOfPod: (pod) => namespace(pod % namespaces),
    *podsOf(name) {
      const first = indexIn(name);
      if (first === undefined || first >= namespaces || name !== namespace(first)) return;
      for (let pod = first; pod < pods; pod += namespaces) yield pod;
    },
    nodeOfPod: (pod) => `node-${padded(pod < pods ? Math.floor(pod / podsPerNode) : pod % nodes)}`,
    pod: (index) => `app-5d9c7f8b6d-${padded(index)}`,
    uses: (pod) => pod % oneInUses === 0,
    claimsOf(pod) {
      const first = (pod / oneInUses) * claimsPerPod;
      return pod % oneInUses === 0 ? Array.from({ length: claimsPerPod }, (_, k) => first + k) : [];
    },
    podOfClaim: (claim) => Math.floor(claim / claimsPerPod) * oneInUses,
    isOurs: (claim) => claim % claimsPerPod >= ordinary,
    claim: (index) => `data-${padded(index)}`,
    persistentVolume: (claim) => `pv-${padded(claim)}`,
    indexIn,
  };
}

/** PURE. A UID that is the same each time. */
export function uidOf(kind: number, index: number): string {
  return `${kind.toString(16).padStart(8, "0")}-0000-4000-8000-${index.toString(16).padStart(12, "0")}`;
}
