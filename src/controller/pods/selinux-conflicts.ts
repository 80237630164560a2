import type { FileLabel } from "../model/file-label.ts";
import type { Candidate, RejectionReason } from "./admitted-pods.ts";

/**
 * Whether files with the one label are not for the other: another level, which the operating system never fills in, or
 * another user, where both say one. (kube-controller-manager: selinuxwarning/translator) Pure.
 */
export function conflicts(one: FileLabel, other: FileLabel): boolean {
  const [a, b] = [parts(one), parts(other)];
  return a.level !== b.level || (a.user !== b.user && a.user !== "" && b.user !== "");
}

function parts(label: FileLabel) {
  const colon = label.indexOf(":");
  return { user: label.slice(0, Math.max(0, colon)), level: label.slice(colon + 1) };
}

/**
 * Of the pods that have one volume on a node, those whose files have another label than the oldest one's, with why that
 * is trouble: where the node has SELinux, the runtime gives the files of a volume that may be written to the label of
 * the pod that it starts. Pure.
 */
export function labelConflicts(
  candidates: readonly Candidate[],
): { readonly candidate: Candidate; readonly why: RejectionReason }[] {
  const known = candidates.flatMap((candidate) =>
    candidate.label === null ? [] : [{ candidate, label: candidate.label }],
  );
  const [first, ...others] = known.sort((a, b) => a.candidate.pod.created - b.candidate.pod.created);
  if (first === undefined) return [];
  return others.flatMap((other) => {
    const { candidate } = other;
    const bothRead = first.candidate.entry.readOnly && candidate.entry.readOnly;
    const isOwn = candidate.pod.uid === first.candidate.pod.uid;
    if (bothRead || isOwn || !conflicts(first.label, other.label)) return [];
    return [{ candidate, why: { reason: "SELinuxConflict", message: messageOf(first, other) } }];
  });
}

interface Labelled {
  readonly candidate: Candidate;
  readonly label: FileLabel;
}

function messageOf(first: Labelled, { candidate, label }: Labelled): string {
  const { namespace, name } = first.candidate.entry;
  // Who else uses the volume of a set is not for every namespace to know.
  const other =
    namespace === candidate.entry.namespace
      ? `pod ${name} has ${said(first.label)}`
      : "a pod of another namespace has another";
  const why = `the pods of the volume on this node have different SELinux levels: ${other}, this one has ${said(label)}: if the node has SELinux, only the pod that started last can use the files`;
  return `${why}. Write the same .spec.securityContext.seLinuxOptions.level into both`;
}

function said(label: FileLabel): string {
  const { user, level } = parts(label);
  return level === "" ? "no SELinux level" : `the SELinux level ${level}${user === "" ? "" : ` of user ${user}`}`;
}
