/**
 * The pid of a child. Never 0, which kill(2) takes for everybody in our own process group: this process, and what has
 * started it.
 * @throws Error if it could not be started: its "error" event says why
 */
export function pidOf(child: { readonly pid?: number | undefined }): number {
  if (child.pid === undefined) throw new Error("the process was not started");
  return child.pid;
}
