/** Whether `path` is `ancestor` or lies beneath it. Both are clean absolute paths. */
export function isBeneath(path: string, ancestor: string): boolean {
  return ancestor === "/" || path === ancestor || path.startsWith(`${ancestor}/`);
}

/** `path` seen from `ancestor`, without a leading slash; "" if they are the same. */
export function relativePath(ancestor: string, path: string): string {
  return ancestor === "/" ? path.slice(1) : path.slice(ancestor.length + 1);
}

/** `relative` beneath `base`. */
export function joinPath(base: string, relative: string): string {
  if (relative === "") return base;
  return base === "/" ? `/${relative}` : `${base}/${relative}`;
}

/** `from` and each path below it towards `path`, which lies beneath it; nothing if it does not. */
export function pathsTowards(from: string, path: string): string[] {
  if (!isBeneath(path, from)) return [];
  if (from === path) return [from];
  const paths = [from];
  const first = from === "/" ? 0 : from.length;
  for (let slash = path.indexOf("/", first + 1); slash !== -1; slash = path.indexOf("/", slash + 1)) {
    paths.push(path.slice(0, slash));
  }
  paths.push(path);
  return paths;
}
