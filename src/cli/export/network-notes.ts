/** What sets of several kinds of servers say in the same words. */
export const unmountFirst =
  "a foreign mount of it cannot be adopted: before mode Manage, unmount it and take it out of the fstab";

/** PURE. */
export function readOnlyOf(options: readonly string[]): { readonly readOnly?: true } {
  return options.includes("ro") ? { readOnly: true } : {};
}

/** PURE. Where the user or the key is to be found; a file is named only if the option's value is the path of one. */
export function credentialsFrom(options: readonly string[]): string {
  const file = options.flatMap((option) => /^(?:cred[a-z]*|secretfile)=(\/[\w./-]*)$/.exec(option)?.[1] ?? [])[0];
  return file === undefined ? "what it is mounted with" : `what ${file} of the node has`;
}
