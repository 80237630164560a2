import { dump } from "js-yaml";
import { Block, Choice, Each, isList, isMap, isPlain, Scalar, type Tree, type TreeMap, When } from "./tree.ts";

/** PURE. The YAML of a tree, with Go templates in it. */
export function emit(tree: TreeMap): string {
  return `${ofMap(tree, 0).join("\n")}\n`;
}

/** PURE. A text that a template shows as it is: dashboards and alerts have templates of their own. */
export function verbatim(text: string): string {
  return text.replaceAll("{{", '{{ "{{" }}');
}

function ofMap(map: TreeMap, indent: number): string[] {
  return Object.entries(map).flatMap(([name, tree]) => field(name, tree, indent));
}

function field(name: string, tree: Tree, indent: number): string[] {
  const key = `${" ".repeat(indent)}${quoted(name)}:`;
  if (tree instanceof When) return under(tree.condition, field(name, tree.tree, indent));
  if (tree instanceof Choice) {
    const [yes, no] = [field(name, tree.tree, indent), field(name, tree.otherwise, indent)];
    return [`{{- if ${tree.condition} }}`, ...yes, "{{- else }}", ...no, "{{- end }}"];
  }
  if (tree instanceof Scalar) return [`${key} {{ ${tree.pipeline} }}`];
  if (tree instanceof Block) return [`${key} {{- ${tree.pipeline} | nindent ${indent + 2} }}`];
  if (isPlain(tree)) return lines({ [name]: tree }, indent);
  if (isList(tree)) return [key, ...ofList(tree, indent + 2)];
  if (isMap(tree)) return [key, ...ofMap(tree, indent + 2)];
  throw new Error(`${name} cannot be a field`);
}

function ofList(items: readonly Tree[], indent: number): string[] {
  return items.flatMap((item) => {
    if (item instanceof When) return under(item.condition, ofList([item.tree], indent));
    if (item instanceof Each) {
      const [first = "", ...rest] = item.lines;
      const pad = " ".repeat(indent);
      const body = [`${pad}- ${first}`, ...rest.map((line) => `${pad}  ${line}`)];
      return [`{{- range $i, $item := ${item.pipeline} }}`, ...body, "{{- end }}"];
    }
    if (isPlain(item)) return lines([item], indent);
    if (!isMap(item)) throw new Error("only maps and scalars can be items");
    // The dash stands before a field that is always there.
    const always = Object.entries(item).toSorted(([, a], [, b]) => Number(!isPlain(a)) - Number(!isPlain(b)));
    const [first = "", ...rest] = ofMap(Object.fromEntries(always), indent + 2);
    return [`${" ".repeat(indent)}- ${first.trimStart()}`, ...rest];
  });
}

function under(condition: string, body: readonly string[]): string[] {
  return [`{{- if ${condition} }}`, ...body, "{{- end }}"];
}

function lines(value: unknown, indent: number): string[] {
  const text = verbatim(dump(value, { lineWidth: -1, noRefs: true })).trimEnd();
  return text.split("\n").map((line) => (line === "" ? line : `${" ".repeat(indent)}${line}`));
}

function quoted(name: string): string {
  return dump({ [name]: 0 })
    .trimEnd()
    .replace(/: 0$/, "");
}
