// Tries the objects of the corpus on a real API server.
import { isDeepStrictEqual } from "node:util";
import type { ApiAnswer, ApiClient, JsonObject } from "../../../hack/lib/api-client.ts";
import type { BadCase, CorpusCase, CorpusObject, GoodCase } from "./corpus.ts";

interface Status {
  readonly message?: string;
  readonly details?: { readonly causes?: readonly { readonly field?: string; readonly message?: string }[] };
}

/** What the API server says besides, when it stopped at errors of structure. */
const unchecked = "some validation rules were not checked because the object was invalid";

/**
 * Sends the object of a case, as a dry run: as an update of what was before if there is something, else as a creation.
 * An object with a status is sent to the status subresource, after it was created without.
 */
export async function send(api: ApiClient, { object, before }: CorpusCase): Promise<ApiAnswer> {
  const first = before ?? (object["status"] === undefined ? undefined : { ...object, status: undefined });
  if (first === undefined) return api.call("POST", `${collection(object)}?${strict}&dryRun=All`, { body: object });
  const path = `${collection(first)}/${first.metadata.name}`;
  await api.call("DELETE", path);
  const created = await api.call("POST", `${collection(first)}?${strict}`, { body: first });
  if (created.status !== 201) return created;
  const { resourceVersion } = created.body["metadata"] as { resourceVersion: string };
  const body = { ...object, metadata: { ...object.metadata, resourceVersion } };
  const subresource = object["status"] === undefined ? "" : "/status";
  const answer = await api.call("PUT", `${path}${subresource}?${strict}&dryRun=All`, { body });
  await api.call("DELETE", path);
  return answer;
}

const strict = "fieldValidation=Strict";

function collection({ kind }: CorpusObject): string {
  return `/apis/nodevolume.dev/v1alpha1/${kind.toLowerCase()}s`;
}

/** The lines that kubectl prints of a refusal, without its first words. */
export function refusal(answer: ApiAnswer): string[] {
  const { message = "", details } = answer.body as Status;
  const causes = details?.causes ?? [];
  if (causes.length === 0) return [message];
  return causes.map((cause) => `${cause.field ?? ""}: ${cause.message ?? ""}`);
}

/** How the answer to a bad object differs from what was expected; "" if it does not. */
export function badDifference({ expected }: BadCase, answer: ApiAnswer): string {
  if (answer.status < 300) return `accepted, expected:\n${indent(expected)}`;
  const actual = refusal(answer);
  const missing = expected.filter((wanted) => !actual.some((line) => line.includes(wanted)));
  const extra = actual.filter((line) => !line.includes(unchecked) && !expected.some((wanted) => line.includes(wanted)));
  if (expected.length > 0 && missing.length === 0 && extra.length === 0) return "";
  return `expected:\n${indent(expected)}\nactual:\n${indent(actual)}`;
}

/** How the answer to a good object differs from what was expected; "" if it does not. */
export function goodDifference({ expected }: GoodCase, answer: ApiAnswer): string {
  if (answer.status >= 300) return `refused:\n${indent(refusal(answer))}`;
  const differing = differences(expected, answer.body);
  return differing.length === 0 ? "" : `read back:\n${indent(differing)}`;
}

/** Where `actual` does not have what `wanted` has: fields that `wanted` does not name are not compared. */
function differences(wanted: unknown, actual: unknown, path = ""): string[] {
  if (wanted === undefined || isDeepStrictEqual(wanted, actual)) return [];
  if (!isObject(wanted) || !isObject(actual)) {
    return [`${path}: expected ${JSON.stringify(wanted)}, actual ${JSON.stringify(actual)}`];
  }
  return Object.keys(wanted).flatMap((name) => differences(wanted[name], actual[name], `${path}.${name}`));
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function indent(lines: readonly string[]): string {
  return lines.map((line) => `  ${line}`).join("\n");
}
