import { allowedSetLabelPrefix } from "./names.ts";

/** Whether a PersistentVolumeClaim with these labels allows a set to use its volume (decision 0106). Pure. */
export function allowsSet(labels: { readonly [key: string]: string } | undefined, set: string): boolean {
  const key = allowedSetLabelPrefix + set;
  return labels !== undefined && Object.hasOwn(labels, key) && labels[key] === "true";
}

/** What is said of a claim that does not allow a set. Pure. */
export function notAllowedMessage(claim: { readonly namespace: string; readonly name: string }, set: string): string {
  return `claim ${claim.namespace}/${claim.name} does not allow set ${set}: it has no label ${allowedSetLabelPrefix}${set}=true`;
}
