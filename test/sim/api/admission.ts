import { Ajv, type ValidateFunction } from "ajv";
import { schema } from "../../../src/api/schema.gen.ts";
import { parseIntent, parseSet } from "../../../src/api/validate.ts";
import { frozen, isJson, type Json, type StoredObject, sameJson } from "./json.ts";
import type { Kind } from "./kinds.ts";
import { Refusal } from "./refusal.ts";

/** On an object that a later version of the CRD has let in, whatever is in it. */
export const laterVersion = "simulator/of-a-later-version";

/**
 * What the CRDs make of an object before it is stored: defaults, the schema, and the rules on what may change. The
 * rules in CEL are those that src checks in code, and the immutable fields; the others are for the real server.
 */
export class Admission {
  readonly #statuses: ReadonlyMap<string, ValidateFunction>;
  readonly #index: ValidateFunction;
  readonly #statusesAtBirth: ReadonlyMap<string, unknown>;

  constructor() {
    const ajv = new Ajv({ allErrors: true, allowUnionTypes: true }).addVocabulary(["rules", "mapKeys"]);
    const { definitions } = schema;
    const kinds = ["NodeVolumeIntent", "NodeVolumeSet", "NodeVolumeState"] as const;
    this.#statuses = new Map(
      kinds.map((kind) => [kind, ajv.compile({ ...definitions[kind].properties.status, definitions })]),
    );
    this.#index = ajv.compile({ ...definitions.NodeVolumeState.properties.spec, definitions });
    const atBirth = (kind: (typeof kinds)[number]) => structuredClone(schema.definitions[kind as "NodeVolumeIntent"]);
    this.#statusesAtBirth = new Map(kinds.map((kind) => [kind, frozen(atBirth(kind).properties.status.default)]));
  }

  /** @throws Refusal 422 */
  admit(kind: Kind, object: StoredObject, before: StoredObject | undefined): StoredObject {
    if (!kind.custom) return object;
    if (object.metadata.annotations?.[laterVersion] !== undefined) return object;
    const withStatus = { ...object, status: object["status"] ?? this.#statusesAtBirth.get(kind.resource.kind) };
    if (before === undefined || !sameJson(before["spec"], object["spec"]))
      return this.#admitSpec(kind, withStatus, before);
    if (withStatus.status !== before["status"]) this.#checkStatus(kind, withStatus); // what is stored was checked
    return withStatus;
  }

  #admitSpec(kind: Kind, object: StoredObject, before: StoredObject | undefined): StoredObject {
    const name = kind.resource.kind;
    if (name === "NodeVolumeState") return this.#admitIndex(object);
    const parsed = name === "NodeVolumeIntent" ? parseIntent(object) : parseSet(object);
    if (!parsed.ok) {
      const causes = parsed.errors.map((error) => `${error.path}: ${error.message}`).join("; ");
      throw new Refusal(422, "Invalid", `${name} ${object.metadata.name} is invalid: ${causes}`);
    }
    if (name === "NodeVolumeIntent" && before !== undefined) refuseChanges(before["spec"], parsed.value.spec);
    if (name === "NodeVolumeSet" && before !== undefined) refuseLettingGo(before["spec"], parsed.value.spec);
    return { ...object, spec: parsed.value.spec };
  }

  #admitIndex(object: StoredObject): StoredObject {
    if (object["spec"] === undefined || this.#index(object["spec"])) return object;
    const causes = (this.#index.errors ?? []).map((error) => `.spec${error.instancePath}: ${error.message}`).join("; ");
    throw new Refusal(422, "Invalid", `NodeVolumeState ${object.metadata.name} is invalid: ${causes}`);
  }

  #checkStatus(kind: Kind, object: StoredObject): void {
    const validate = this.#statuses.get(kind.resource.kind);
    if (validate === undefined || validate(object["status"])) return;
    const causes = (validate.errors ?? []).map((error) => `.status${error.instancePath}: ${error.message}`).join("; ");
    throw new Refusal(422, "Invalid", `${kind.resource.kind} ${object.metadata.name} is invalid: ${causes}`);
  }
}

/** @throws Refusal 422, as of the rules of the CRD */
export function refuseChanges(before: unknown, after: unknown): void {
  if (!isJson(before) || !isJson(after)) return;
  for (const field of ["nodeName", "source", "volumeMode", "fsType"]) {
    if (!sameJson(before[field], after[field])) throw new Refusal(422, "Invalid", `spec.${field} cannot be changed`);
  }
  if (isJson(before["grant"])) refuseOtherGrant(before["grant"], isJson(after["grant"]) ? after["grant"] : {});
}

/** The disk is written once it is known; an answer of what is attached, as often as that changes. */
function refuseOtherGrant(
  { disk: before, attachments: _before, ...kept }: Json,
  { disk: after, attachments: _after, ...now }: Json,
): void {
  if (!sameJson(kept, now)) throw new Refusal(422, "Invalid", "spec.grant cannot be withdrawn or changed");
  if (before === undefined || before === after || (before === "" && after !== undefined)) return;
  throw new Refusal(422, "Invalid", "spec.grant.disk is written once");
}

function refuseLettingGo(before: unknown, after: unknown): void {
  if (!isJson(before) || !isJson(after) || before["mode"] !== "Manage" || after["mode"] !== "Observe") return;
  throw new Refusal(422, "Invalid", "spec.mode cannot go from Manage to Observe");
}
