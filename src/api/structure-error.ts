import type { ErrorObject } from "ajv";
import type { FieldError } from "./rules/check-rules.ts";

/** What ajv found, as a path and a sentence with the remedy. */
export function structureError(error: ErrorObject): FieldError {
  const at = fieldPath(error.instancePath);
  switch (error.keyword) {
    case "required":
      return { path: `${at}.${error.params["missingProperty"]}`, message: "is needed: add it" };
    case "additionalProperties":
      return {
        path: `${at}.${error.params["additionalProperty"]}`,
        message: "is not understood: correct its name, or upgrade what reads it here",
      };
    case "enum": {
      const values = (error.params["allowedValues"] as unknown[]).map((value) => JSON.stringify(value));
      return { path: at, message: `must be one of ${values.join(", ")}` };
    }
    case "type":
      return { path: at, message: `must be of type ${[error.params["type"]].flat().join(" or ")}` };
    case "minLength":
      return { path: at, message: "must not be empty" };
    default:
      return { path: at, message: error.message ?? `breaks the schema's ${error.keyword}` };
  }
}

/** A JSON pointer as people write paths: `/spec/mounts/0/path` is `.spec.mounts[0].path`. */
function fieldPath(pointer: string): string {
  const segments = pointer.split("/").slice(1);
  const named = segments.map((segment) => segment.replaceAll("~1", "/").replaceAll("~0", "~"));
  return named.map((segment) => (/^\d+$/.test(segment) ? `[${segment}]` : `.${segment}`)).join("");
}
