declare const brand: unique symbol;

/** Name of a NodeVolumeIntent, which is one volume of this node: no name of a set, pod or mount. */
export type VolumeName = string & { readonly [brand]: "VolumeName" };

/** Where a name comes from outside: of an object of the API, or in a call of kubelet. */
export function asVolumeName(name: string): VolumeName {
  return name as VolumeName;
}
