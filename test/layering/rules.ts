/**
 * The import law of src (docs/architecture.md), circles of imports, and what only one place may touch. Pure, so that it
 * can be tried on text.
 */

/** Rooms, and the rooms that each may import from beside itself. */
const mayImport: { readonly [room: string]: readonly string[] } = {
  base: [],
  host: ["base"],
  plugins: ["base", "host"],
  csi: ["base", "host"],
  kube: ["base"],
  agent: ["base", "host", "plugins", "csi", "kube"],
  explain: ["base", "kube"],
  controller: ["base", "kube", "explain"],
  cli: ["base", "kube", "explain"],
  "api-proxy": ["base", "kube"],
};

/** Files directly in src, and src/api, which everybody may use. */
const base = /^src\/(api\/.*|errors\.ts|feature-gates\.ts|log-level\.ts|ports\.ts)$/;

/** Files that wire everything: they may import any room, and the run.ts of a room, which wires its real parts, them. */
const wiring =
  /^src\/(main|kubectl-nvi|config|config-values|configuration|follow-log-level|log|log-warnings|usage|system|page-files|version)\.ts$|^src\/http\//;

/** Only real effects live here; everything else gets them handed in. */
const forbidden: readonly { readonly what: string; readonly pattern: RegExp; readonly allowed: RegExp }[] = [
  { what: "Date.now", pattern: /\bDate\.now\b/, allowed: /^src\/system\.ts$/ },
  { what: "new Date()", pattern: /\bnew Date\(\s*\)/, allowed: /^src\/system\.ts$/ },
  {
    what: "setTimeout or setInterval",
    pattern: /\b(setTimeout|setInterval|setImmediate)\b(?!\()|(?<![.\w])(setTimeout|setInterval)\(/,
    allowed: /^src\/system\.ts$/,
  },
  { what: "Math.random", pattern: /\bMath\.random\b/, allowed: /^src\/system\.ts$/ },
  { what: "process.env", pattern: /\bprocess\.env\b/, allowed: /^src\/(config|main)\.ts$/ },
  { what: "process.exit", pattern: /\bprocess\.(exit|reallyExit|abort)\b/, allowed: /^src\/(main|kubectl-nvi)\.ts$/ },
  {
    // Rooms that decide get the machine handed in (src/host/ports/host-ports.ts); run.ts asks whose mount namespace it
    // is in.
    what: "a module that touches the machine",
    pattern: /"(node:(fs|child_process|net|dgram|tls|http|https)(\/\w+)?|koffi)"/,
    allowed: /^src\/((?!agent\/|controller\/|plugins\/|api\/|cli\/)|agent\/run\.ts$|cli\/(run|access)\.ts$)/,
  },
  {
    // Where test/real/kernel-headers.test.ts compares it with the headers of each architecture.
    what: "a number of the kernel's interface",
    pattern: /\bconst [A-Z][A-Z0-9_]* = (\{|-?\d)/,
    allowed: /^src\/((?!host\/)|host\/linux\/syscall\/constants\.ts$)/,
  },
  {
    what: "@dot-i/k8s-operator",
    pattern: /from "@dot-i\/k8s-operator"/,
    allowed: /^src\/controller\/sets\/operator\.ts$/,
  },
  {
    what: "@kubernetes/client-node",
    pattern: /from "@kubernetes\/client-node"/,
    allowed: /^src\/(controller\/|cli\/access\.ts$)/,
  },
];

const longestFile = 400;

/** What is wrong with one file of src. */
export function violations(path: string, text: string): string[] {
  const code = withoutComments(text);
  const found = specifiersOf(code).flatMap((specifier) => importViolation(path, specifier));
  for (const { what, pattern, allowed } of forbidden) {
    if (!allowed.test(path) && pattern.test(code)) found.push(`${path}: ${what} is not for this file`);
  }
  if (isPure(text) && impure.test(code)) found.push(`${path}: says that it is pure, and imports node:* or koffi`);
  return found;
}

/** What is wrong with one file of hack: tests build on it, so that it builds on none of them. */
export function hackViolations(path: string, text: string): string[] {
  return specifiersOf(withoutComments(text))
    .map((specifier) => (specifier.startsWith(".") ? resolve(path, specifier) : specifier))
    .filter((target) => target.startsWith("test/"))
    .map((target) => `${path}: hack may not import ${target}`);
}

export interface Circle {
  /** Sorted. */
  readonly files: readonly string[];
  /** What each of them imports of the others. */
  readonly text: string;
}

/**
 * Files that import each other in a circle, counted with `import type`.
 * Files of which each is reached from each are one circle (Tarjan), though there may be several ways around.
 * @param texts of all files that may be in one, by path
 */
export function circles(texts: ReadonlyMap<string, string>): Circle[] {
  const found: Circle[] = [];
  const numbers = new Map<string, number>();
  /** Files of which it is not known yet whether they are in a circle. */
  const open: string[] = [];
  const targetsOf = (path: string) =>
    specifiersOf(withoutComments(texts.get(path) ?? "")).flatMap((specifier) => {
      const target = specifier.startsWith(".") ? resolve(path, specifier) : specifier;
      return texts.has(target) ? [target] : [];
    });
  /**
   * Returns the lowest number of an open file that this one leads to: its own, unless a file before it is in its
   * circle.
   */
  const visit = (path: string): number => {
    const own = numbers.size;
    let lowest = own;
    numbers.set(path, own);
    open.push(path);
    for (const target of targetsOf(path)) {
      const known = open.includes(target) ? numbers.get(target) : undefined;
      lowest = Math.min(lowest, known ?? (numbers.has(target) ? own : visit(target)));
    }
    if (lowest === own) {
      const files = open.splice(open.indexOf(path)).sort();
      const arrows = files.map((one) => {
        const targets = targetsOf(one).filter((target) => files.includes(target));
        return `  ${one} imports ${[...new Set(targets)].sort().join(", ")}`;
      });
      if (files.length > 1) found.push({ files, text: `circle of ${files.length} files:\n${arrows.join("\n")}` });
    }
    return lowest;
  };
  for (const path of texts.keys()) if (!numbers.has(path)) visit(path);
  return found;
}

/** What is wrong with any text file of the repository. */
export function textViolations(path: string, text: string, machinePath: RegExp): string[] {
  const found: string[] = [];
  if (machinePath.test(text)) found.push(`${path}: names a path of one machine: ${machinePath.exec(text)?.[0]}`);
  const lines = text.split("\n").length - 1;
  if (path.endsWith(".ts") && !path.endsWith(".gen.ts") && lines > longestFile) {
    found.push(`${path}: ${lines} lines; split it at ${longestFile}`);
  }
  if (/\.test\.ts$/.test(path) && /\b(it|describe|context|test)\.only\(/.test(text)) found.push(`${path}: .only`);
  return found;
}

/** PURE. Files that a file imports, by their paths from the root of the repository. */
export function importsOf(path: string, text: string): string[] {
  const specifiers = specifiersOf(withoutComments(text)).filter((specifier) => specifier.startsWith("."));
  return specifiers.map((specifier) => resolve(path, specifier));
}

/** What is imported, and files that are named by where they are to this one. */
function specifiersOf(code: string): string[] {
  const named = code.matchAll(/(?:(?:from|import)\s*\(?|new URL\()\s*"([^"]+)"/g);
  return [...named].map(([, specifier = ""]) => specifier);
}

function importViolation(path: string, specifier: string): string[] {
  if (!specifier.startsWith(".")) return [];
  const target = resolve(path, specifier);
  const from = roomOf(path);
  const to = roomOf(target);
  if (!target.startsWith("src/")) return [`${path}: imports ${target}, outside of src`];
  if (to === "wiring" && path.endsWith("/run.ts")) return [];
  if (from === "wiring" || from === to || (mayImport[from] ?? []).includes(to)) return [];
  return [`${path}: ${from} may not import ${to} (${target})`];
}

/** "unknown" for a room that nobody has entered in the law. */
function roomOf(path: string): string {
  if (base.test(path)) return "base";
  if (wiring.test(path)) return "wiring";
  const room = /^src\/([^/]+)\//.exec(path)?.[1] ?? "";
  return Object.hasOwn(mayImport, room) ? room : "unknown";
}

function resolve(path: string, specifier: string): string {
  const parts = path.split("/").slice(0, -1);
  for (const part of specifier.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== ".") parts.push(part);
  }
  return parts.join("/");
}

const impure = /(?:from|import)\s*\(?\s*"(node:|koffi")/;

/** Whether a file, or anything in it, is called pure by the comment above it. */
function isPure(text: string): boolean {
  return [...text.matchAll(/\/\*\*[\s\S]*?\*\/|(?:^\/\/[^\n]*\n)+/gm)].some(([comment]) =>
    /\bPURE[.:]|\bPure[.,]/.test(comment),
  );
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/(^|\s)\/\/[^\n]*/g, "$1");
}
