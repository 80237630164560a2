/** One direct system call of the swapper. Paths are absolute; a call that fails is passed over. */
export type Step =
  | readonly ["exchange", string, string]
  | readonly ["rename", string, string]
  | readonly ["symlink", string, string]
  | readonly ["unlink", string]
  | readonly ["rmdir", string]
  | readonly ["mkdir", string];

/** A way to change what a path means: its steps, gone through once, lead back to where they began. */
export interface Strategy {
  readonly name: string;
  readonly steps: readonly Step[];
}

/** Two names change places, and back: never is one of them absent. */
export function exchange(a: string, b: string, name: string): Strategy {
  return {
    name,
    steps: [
      ["exchange", a, b],
      ["exchange", a, b],
    ],
  };
}

/** The path is moved away, a link takes its place, and all is undone. */
export function replaceByLink(path: string, to: string): Strategy {
  const away = `${path}.away`;
  const steps: Step[] = [
    ["rename", path, away],
    ["symlink", to, path],
    ["unlink", path],
    ["rename", away, path],
  ];
  return { name: "rename + symlink", steps };
}

/** An empty directory is removed, a link takes its place, and it is made anew. */
export function removeAndLink(path: string, to: string): Strategy {
  const steps: Step[] = [
    ["rmdir", path],
    ["symlink", to, path],
    ["unlink", path],
    ["mkdir", path],
  ];
  return { name: "rmdir + symlink + mkdir", steps };
}

/** An empty file is removed, a link takes its place, and goes; who uses the file makes it anew. */
export function unlinkAndLink(path: string, to: string): Strategy {
  return {
    name: "unlink + symlink",
    steps: [
      ["unlink", path],
      ["symlink", to, path],
      ["unlink", path],
    ],
  };
}

/** The directory leaves for another place of the same file system, and comes back. */
export function moveOut(path: string, elsewhere: string): Strategy {
  return {
    name: "rename out and back",
    steps: [
      ["rename", path, elsewhere],
      ["rename", elsewhere, path],
    ],
  };
}
