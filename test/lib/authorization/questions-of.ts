import { type JsonObject, mergePatch } from "../../../hack/lib/api-client.ts";
import type { MatrixRow, Verb, Verdict } from "../../../hack/lib/authorization-matrix.ts";
import type { Answer, Question } from "./ask.ts";

/**
 * PURE. The request that asks for one verb.
 * @param object as the API server has it, for what sends a whole object
 */
export function questionOf(row: MatrixRow, verb: Verb, object: JsonObject): Question {
  const part = row.subresource === undefined ? "" : `/${row.subresource}`;
  const named = `${row.path}/${row.name}${part}`;
  const dryRun = row.real ? "" : "?dryRun=All";
  // Of this one object alone: a collection has others' objects, which others' policies guard.
  const only = `fieldSelector=${encodeURIComponent(`metadata.name=${row.name}`)}`;
  switch (verb) {
    case "get":
      return { method: "GET", path: named };
    case "list":
      return { method: "GET", path: `${row.path}?${only}` };
    case "watch":
      return { method: "GET", path: `${row.path}?watch=true&timeoutSeconds=5&${only}` };
    case "create":
      return part === ""
        ? { method: "POST", path: `${row.path}${dryRun}`, body: row.body ?? asNew(object) }
        : { method: "POST", path: `${named}${dryRun}`, body: row.body ?? {} };
    case "update":
      return { method: "PUT", path: `${named}${dryRun}`, body: merged(object, row.change as JsonObject) };
    case "patch":
      return { method: "PATCH", path: `${named}${dryRun}`, contentType: mergePatch, body: row.change };
    case "delete":
      return { method: "DELETE", path: `${named}${dryRun}` };
    case "deletecollection":
      return { method: "DELETE", path: `${row.path}${dryRun === "" ? "?" : `${dryRun}&`}${only}` };
    default:
      return verb satisfies never;
  }
}

/** PURE. What an answer says; the words themselves if it is none that the matrix knows. */
export function verdictOf(verb: Verb, { status, message }: Answer): Verdict {
  // 409: past authorization and admission, and then there is one of this name.
  if (status < 300 || (status === 409 && verb === "create")) return "allowed";
  // Past authorization, which asks nobody whether the resource is served.
  if (status === 404 && /404 page not found|could not find the requested resource/.test(message)) return "allowed";
  const policy = /ValidatingAdmissionPolicy '([^']+)'/.exec(message);
  if (policy?.[1] !== undefined && (status === 403 || status === 422)) return policy[1];
  const byRole = status === 403 && /User "[^"]*" cannot /.test(message);
  return byRole ? "RBAC" : `${status} ${message}`;
}

function asNew(object: JsonObject): JsonObject {
  const { uid: _, resourceVersion: __, ...metadata } = object["metadata"] as JsonObject;
  return { ...object, metadata };
}

/** PURE. RFC 7386. */
function merged(target: JsonObject, patch: JsonObject): JsonObject {
  const result: JsonObject = { ...target };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else if (isObject(value)) result[key] = merged(isObject(result[key]) ? result[key] : {}, value);
    else result[key] = value;
  }
  return result;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
