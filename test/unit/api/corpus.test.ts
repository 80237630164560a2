import { isDeepStrictEqual } from "node:util";
import { expect } from "chai";
import { type FieldError, parseIntent, parseSet } from "../../../src/api/validate.ts";
import { badCases, type CorpusObject, goodCases } from "../../lib/corpus/corpus.ts";
import { allRules, isOfCode, isSaid, partsOf } from "../../lib/corpus/corpus-rules.ts";

/**
 * What only the API server can refuse, because it is about the object before, or about what no parser of ours reads.
 */
const onlyTheServer: readonly RegExp[] = [
  // Rules that compare with the object before.
  /^nodevolumeset\/mode-manage-to-observe$/,
  /^nodevolumeintent\/(change|add|remove|exchange)-/,
  /^nodevolumeintent\/observe-with-grant$/,
  // Names of objects are checked by the API machinery.
  /\/name-upper-case$/,
  // A status is output: it is never a reason to refuse an object, and a NodeVolumeState has nothing else.
  /\/status-/,
  /^nodevolumestate\//,
];

describe("the corpus, checked in code", () => {
  for (const { name, object } of badCases()) {
    const excepted = onlyTheServer.some((pattern) => pattern.test(name));
    if (!excepted) it(`${name} is refused`, () => expect(errorsOf(object), "accepted").not.to.deep.equal([]));
  }

  it("names what only the API server refuses, and nothing else", () => {
    const wrong = badCases().filter(({ name, object }) => {
      const excepted = onlyTheServer.some((pattern) => pattern.test(name));
      return excepted && object.kind !== "NodeVolumeState" && errorsOf(object).length > 0;
    });
    expect(wrong.map(({ name }) => name)).to.deep.equal([]);
  });

  for (const { name, object, expected } of goodCases()) {
    if (object.kind === "NodeVolumeState") continue;
    it(`${name} is accepted`, () => {
      const parsed = parse(object);
      expect(parsed.ok ? [] : parsed.errors).to.deep.equal([]);
      if (parsed.ok) expect(missing(expected, parsed.value)).to.deep.equal([]);
    });
  }

  it("expects words that rules have", () => {
    const unknown = linesOfRules().filter(({ said }) => !allRules.some(({ message }) => message.startsWith(said)));
    expect(unknown.map(({ line }) => line)).to.deep.equal([]);
  });

  it("expects the value before the words of a rule of a single value, where the API server shows it", () => {
    const without = linesOfRules().filter(({ said, value }) => {
      const known = allRules.filter(({ message }) => message.startsWith(said));
      return value === undefined && known.length > 0 && known.every(({ ofOneValue }) => ofOneValue);
    });
    expect(without.map(({ line }) => line)).to.deep.equal([]);
  });

  it("is told word by word what the API server does not check", () => {
    const lines = badCases().flatMap(({ name, object, expected }) =>
      expected.filter((line) => isOfCode(object.kind, line)).map((line) => ({ name, line, errors: errorsOf(object) })),
    );
    expect(lines.length).to.be.greaterThan(60);
    const unsaid = lines.filter(({ line, errors }) => !isSaid(line, errors));
    expect(unsaid.map(({ name, line, errors }) => `${name}: ${line}: ${JSON.stringify(errors)}`)).to.deep.equal([]);
  });

  it("names the field that the API server names", () => {
    const different = badCases().flatMap(({ name, object, expected }) => {
      if (object.kind === "NodeVolumeState" || onlyTheServer.some((pattern) => pattern.test(name))) return [];
      const paths = errorsOf(object).map(({ path }) => path);
      const known = expected.some((line) => paths.some((path) => namesField(line, path)));
      return known ? [] : [`${name}: the server says ${expected.join("; ").slice(0, 120)}, the code ${paths}`];
    });
    expect(different).to.deep.equal([]);
  });
});

/** What the API server says itself of types, lengths, patterns and names. */
const ofTheServer =
  /in body (must|should)|must be an object for an array|must be of type|RFC 1123|may not be (more|less|longer)|Unsupported value/;

/** What bad objects expect a rule to say, with the value that stands before it, if one does. */
function linesOfRules() {
  return badCases().flatMap(({ name, expected }) =>
    expected.flatMap((line) => {
      const { value, message: said } = partsOf(line);
      return said === "" || ofTheServer.test(said) ? [] : [{ line: `${name}: ${line}`, value, said }];
    }),
  );
}

function parse(object: CorpusObject) {
  return object.kind === "NodeVolumeSet" ? parseSet(withoutNulls(object)) : parseIntent(withoutNulls(object));
}

function errorsOf(object: CorpusObject): readonly FieldError[] {
  const parsed = parse(object);
  return parsed.ok ? [] : parsed.errors;
}

/** The API server drops a null before it validates, and never stores one. */
function withoutNulls(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withoutNulls);
  if (typeof node !== "object" || node === null) return node;
  const kept = Object.entries(node).filter(([, value]) => value !== null);
  return Object.fromEntries(kept.map(([name, value]) => [name, withoutNulls(value)]));
}

/**
 * Whether a line of the server is about the field. Where an object stands for a list, the server names what is in it as
 * unknown; where a key is repeated, it names the entry.
 */
function namesField(line: string, path: string): boolean {
  const field = path.slice(1);
  const written = [`${field}:`, `"${field}"`, `"${field}.`, `"${field}[`];
  return written.some((text) => line.includes(text)) || line.startsWith(`${parent(field)}: Duplicate`);
}

function parent(field: string): string {
  return field.slice(0, field.lastIndexOf("."));
}

function missing(wanted: unknown, actual: unknown, path = ""): string[] {
  if (wanted === undefined || isDeepStrictEqual(wanted, actual)) return [];
  if (!isObject(wanted) || !isObject(actual)) return [`${path}: ${JSON.stringify(actual)}`];
  return Object.keys(wanted).flatMap((name) => missing(wanted[name], actual[name], `${path}.${name}`));
}

function isObject(value: unknown): value is { [name: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
