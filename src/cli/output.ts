import { dump } from "js-yaml";
import type { KubeObject } from "../api/meta.ts";
import type { Resource } from "../api/names.ts";
import { apiVersionOf } from "../kube/client/resource-path.ts";
import { UsageError } from "./exit-code.ts";
import type { FlagValues } from "./flags.ts";
import { didYouMean } from "./nearest.ts";

/** The argument of `-o`. */
export type Format = "json" | "yaml" | "wide" | "name";

/** PURE. What -o asks for, if the command has it. @throws UsageError */
export function formatOf(values: FlagValues, known: readonly Format[]): Format | undefined {
  const text = values.output;
  if (text === undefined) return undefined;
  const format = known.find((one) => one === text);
  if (format !== undefined) return format;
  throw new UsageError(`-o ${JSON.stringify(text)} is not one of ${known.join(", ")}${didYouMean(text, known)}`);
}

/** PURE. Any answer as JSON or YAML. */
export function serialized(value: unknown, format: "json" | "yaml"): string {
  return format === "json" ? `${JSON.stringify(value, undefined, 2)}\n` : toYaml(value);
}

/**
 * PURE. JSON as YAML in kubectl's layout: lists stand at the indent of their key, no line is folded. A text that any
 * reader, one of YAML 1.1 as kubectl's included, takes for something else is in double quotes. Undefined fields are
 * left out.
 */
export function toYaml(value: unknown): string {
  return dump(value, { lineWidth: -1, noRefs: true, seqNoIndent: true, skipInvalid: true, quoteStyle: "double" });
}

/** PURE. Objects as `kubectl get -o` gives them: a List, without managedFields. */
export function listOf(resource: Resource, objects: readonly KubeObject[]): object {
  const apiVersion = apiVersionOf(resource);
  const items = objects.map(({ metadata, ...rest }) => {
    const { managedFields: _, ...shown } = metadata as KubeObject["metadata"] & { managedFields?: unknown };
    return { apiVersion, kind: resource.kind, metadata: shown, ...rest };
  });
  return { apiVersion: "v1", kind: "List", items };
}

/** PURE. `nodevolumeintent.nodevolume.dev/NAME`, a line each, as `kubectl get -o name`. */
export function namesOf(resource: Resource, objects: readonly KubeObject[]): string {
  const kind = resource.kind.toLowerCase() + (resource.group === "" ? "" : `.${resource.group}`);
  return objects.map(({ metadata }) => `${kind}/${metadata.name}\n`).join("");
}
