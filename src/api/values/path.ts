/** The directories above an absolute path, the nearest first, without the root. Pure. */
export function ancestorsOf(path: string): string[] {
  const found: string[] = [];
  for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) found.push(path.slice(0, end));
  return found;
}

/** Whether an absolute path has a segment that is no name: ".", "..", or nothing at all. Pure. */
export function hasDots(path: string): boolean {
  return /\/(\.{0,2})(\/|$)/.test(path) && path !== "/";
}
