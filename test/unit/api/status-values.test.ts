import { expect } from "chai";
import { readCRDs, type Schema, schemaOf } from "../../../hack/lib/crds.ts";
import {
  agentStates,
  countedState,
  countedStatus,
  driftClasses,
  intentStates,
  podTargetStates,
  targetStates,
} from "../../../src/api/status-values.ts";

const statuses = [...readCRDs()].map(([kind, crd]) => ({ kind, schema: at(schemaOf(crd), "status") }));

describe("what a status says in one word", () => {
  it("may be a word that is added later: no value of a status is closed, but of a condition", () => {
    const closed = statuses.flatMap(({ kind, schema }) => closedIn(schema, kind));
    expect(closed.sort()).to.deep.equal(statuses.map(({ kind }) => `${kind}.conditions[].status`).sort());
  });

  const intent = statuses.find(({ kind }) => kind === "NodeVolumeIntent")?.schema ?? {};
  const described: readonly [path: string, values: readonly string[]][] = [
    ["state", intentStates],
    ["mounts[].state", targetStates],
    ["mounts[].drift", driftClasses],
    ["pods[].state", podTargetStates],
    ["pods[].drift", driftClasses],
    ["drift.class", driftClasses],
    ["agentState.state", agentStates],
  ];
  for (const [path, values] of described)
    it(`is described: ${path}`, () => {
      const field = path.split(".").reduce(at, intent);
      const text = String(field["description"]);
      for (const value of values) expect(text).to.match(new RegExp(`\\b${value}\\b`));
      expect(text).to.include("Values may be added");
      expect(field["maxLength"], "no value is longer").to.be.at.least(Math.max(...values.map(({ length }) => length)));
    });
});

describe("the state of an intent as a label", () => {
  it("is one of a few, whatever an agent has written", () => {
    expect(intentStates.map(countedState)).to.deep.equal([...intentStates]);
    expect(countedState(undefined)).to.equal("NotObserved");
    for (const made of ["", "mounted", "NotObserved", "series-4711", "constructor"])
      expect(countedState(made), made).to.equal("Other");
  });
});

describe("the status of a Node's condition as a label", () => {
  it("is one of three, whatever a kubelet has written", () =>
    expect(["True", "False", "Unknown", "", "true", "series-4711"].map(countedStatus)).to.deep.equal([
      "true",
      "false",
      ...Array(4).fill("unknown"),
    ]));
});

/** A field of a schema; `name[]` is what its list has. */
function at(schema: Schema, name: string): Schema {
  const field = (schema["properties"] as { [name: string]: Schema })[name.replace("[]", "")] ?? {};
  return name.endsWith("[]") ? (field["items"] as Schema) : field;
}

function closedIn(schema: Schema, path: string): string[] {
  const inner = Object.entries((schema["properties"] ?? {}) as { [name: string]: Schema });
  return [
    ...(schema["enum"] === undefined ? [] : [path]),
    ...inner.flatMap(([name, field]) => closedIn(field, `${path}.${name}`)),
    ...(typeof schema["items"] === "object" ? closedIn(schema["items"] as Schema, `${path}[]`) : []),
  ];
}
