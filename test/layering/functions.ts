import { isFunctionLikeDeclaration, type Node, type SourceFile } from "typescript/unstable/ast";
import { createVirtualFileSystem } from "typescript/unstable/fs";
import { API } from "typescript/unstable/sync";

/** Most lines of a function, without those of functions inside of it. */
export const longestFunction = 60;

/** A function that is too long. */
export interface LongFunction {
  readonly path: string;
  /** "" for a function that nothing names. */
  readonly name: string;
  /** Line of the file, counted from 1. */
  readonly line: number;
  /** Lines of its own: those of an inner function count for that one, but for its first and its last line. */
  readonly lines: number;
}

/**
 * Functions of some files that have more than `longestFunction` lines of their own. It starts the compiler's parser as
 * a process, and ends it.
 * @param texts of TypeScript files, by path
 */
export function longFunctions(texts: ReadonlyMap<string, string>): LongFunction[] {
  // A file that is no longer than a function may be has none that is too long, and is not parsed.
  const long = [...texts].filter(([, text]) => text.split("\n").length > longestFunction);
  const files = long.map(([path, text]) => [`/${path}`, text] as const);
  const compilerOptions = { noResolve: true, noLib: true, types: [], allowImportingTsExtensions: true, noEmit: true };
  const project = JSON.stringify({ compilerOptions, files: files.map(([path]) => path) });
  const api = new API({ fs: createVirtualFileSystem({ ...Object.fromEntries(files), [config]: project }), cwd: "/" });
  try {
    const program = api.updateSnapshot({ openProjects: [config] }).getProject(config)?.program;
    return long.flatMap(([path]) => {
      const file = program?.getSourceFile(`/${path}`);
      if (file === undefined) throw new Error(`the compiler has not parsed ${path}`);
      return longIn(path, file);
    });
  } finally {
    api.close();
  }
}

const config = "/tsconfig.json";

function longIn(path: string, file: SourceFile): LongFunction[] {
  const found: LongFunction[] = [];
  const lineOf = (position: number) => file.getLineAndCharacterOfPosition(position).line;
  /** @returns lines of functions that begin in this node, which are not those of the function around it */
  const visit = (node: Node): number => {
    let inner = 0;
    node.forEachChild((child) => {
      inner += visit(child);
    });
    if (!isFunctionLikeDeclaration(node) || node.body === undefined) return inner;
    const first = lineOf(node.getStart(file));
    const length = lineOf(node.end) - first + 1;
    const lines = length - inner;
    if (lines > longestFunction) found.push({ path, name: nameOf(node, file), line: first + 1, lines });
    return Math.max(0, length - 2);
  };
  visit(file);
  return found;
}

/** Its own name, or that of the constant or property that it is the value of. */
function nameOf(node: Node, file: SourceFile): string {
  for (const named of [node, node.parent]) {
    const name = (named as { readonly name?: Node }).name;
    if (name !== undefined) return name.getText(file);
  }
  return "";
}
