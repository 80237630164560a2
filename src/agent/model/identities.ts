declare const brand: unique symbol;

/** Name of a NodeVolumeIntent, which is one volume of this node: no name of a set, pod or mount. */
export type VolumeName = string & { readonly [brand]: "VolumeName" };

/** Where a name comes from outside: of an object of the API, or in a call of kubelet. */
export function asVolumeName(name: string): VolumeName {
  return name as VolumeName;
}

/** Path of a target, as the node sees it: of a mount of the spec, or what kubelet wants for a pod. No staging path. */
export type MountPath = string & { readonly [brand]: "MountPath" };

/** Where a path comes from outside: of an object of the API, or in a call of kubelet. */
export function asMountPath(path: string): MountPath {
  return path as MountPath;
}

/** UID of an intent: another object of the same name has another one. */
export type IntentUID = string & { readonly [brand]: "IntentUID" };

/** Where a UID comes from outside: of an object of the API. */
export function asIntentUID(uid: string): IntentUID {
  return uid as IntentUID;
}
