// The corpus: objects that the API server must refuse, with what it must say, and objects that it must accept.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { load } from "js-yaml";
import type { JsonObject } from "../../../hack/lib/api-client.ts";
import { root } from "../../../hack/lib/root.ts";

export interface CorpusObject extends JsonObject {
  kind: string;
  metadata: { name: string };
}

export interface CorpusCase {
  /** As in nodevolumeset/source-none. */
  readonly name: string;
  /** Path of the file. */
  readonly file: string;
  readonly object: CorpusObject;
  /** What is there before, if the case is an update. */
  readonly before?: CorpusObject;
}

export interface BadCase extends CorpusCase {
  /** Each must stand in one line of the answer, and each line of the answer must have one of them in it. */
  readonly expected: readonly string[];
}

export interface GoodCase extends CorpusCase {
  /** Part of the object as it is read back. */
  readonly expected?: unknown;
}

export const corpusFolder = join(root, "test/corpus");

export function badCases(): BadCase[] {
  return ["nodevolumeset", "nodevolumeintent", "nodevolumestate"].flatMap((kind) =>
    cases(kind).map((found) => ({ ...found, expected: lines(found.file.replace(/yaml$/, "expected")) })),
  );
}

export function goodCases(): GoodCase[] {
  return cases("good").map((found) => {
    const file = found.file.replace(/yaml$/, "expected.yaml");
    return existsSync(file) ? { ...found, expected: load(readFileSync(file, "utf8")) } : found;
  });
}

function cases(folder: string): CorpusCase[] {
  const files = readdirSync(join(corpusFolder, folder)).filter((file) => /^[^.]+\.yaml$/.test(file));
  return files.sort().map((file) => {
    const path = join(corpusFolder, folder, file);
    const before = path.replace(/yaml$/, "before.yaml");
    const found = { name: `${folder}/${file.replace(/\.yaml$/, "")}`, file: path, object: read(path) };
    return existsSync(before) ? { ...found, before: read(before) } : found;
  });
}

function read(file: string): CorpusObject {
  return load(readFileSync(file, "utf8")) as CorpusObject;
}

function lines(file: string): string[] {
  const found = readFileSync(file, "utf8").split("\n");
  return found.filter((line) => line !== "");
}
