import { expect } from "chai";
import { type FieldError, parseIntent, parseSet } from "../../../src/api/validate.ts";

const requester = { kind: "NodeVolumeSet", name: "data", uid: "u" };
const mount = { name: "data.host", path: "/mnt/nodevolume/data", requester };
const spec = {
  nodeName: "worker-1",
  nodeUID: "0b7b6f5e",
  volumeName: "data",
  mode: "Manage",
  volumeMode: "Filesystem",
  source: { emptyDir: {} },
  mounts: [mount],
};

const intent = (over: object = {}, beside: object = {}) => ({
  apiVersion: "nodevolume.dev/v1alpha1",
  kind: "NodeVolumeIntent",
  metadata: { name: "worker-1.data-4f1c", uid: "1", resourceVersion: "7", generation: 1 },
  spec: { ...spec, ...over },
  ...beside,
});

const notUnderstood = "is not understood: correct its name, or upgrade what reads it here";

describe("parseIntent", () => {
  it("fills in the defaults of the CRD in a copy and leaves the input as it is", () => {
    const input = deepFreeze(intent());
    const parsed = parseIntent(input);
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.errors));
    expect(parsed.value.spec).to.deep.equal({
      ...spec,
      suspend: false,
      unmountPolicy: { max: "Normal", timeoutSeconds: 90 },
      deletionPolicy: "Unmount",
      adopt: "Never",
      nodeLossPolicy: { type: "Never" },
    });
    expect(parsed.value.metadata).to.deep.equal(input.metadata);
    expect(parsed.value).to.not.equal(input);
    expect(input).to.deep.equal(intent());
  });

  it("gives every parse its own defaults", () => {
    const [a, b] = [parseIntent(intent()), parseIntent(intent())];
    if (!a.ok || !b.ok) throw new Error("refused");
    a.value.spec.unmountPolicy.timeoutSeconds = 1;
    a.value.status.conditions?.pop();
    expect(b.value.spec.unmountPolicy.timeoutSeconds).to.equal(90);
    expect(b.value.status.conditions).to.have.length(1);
  });

  const notObjects: unknown[] = [undefined, null, "intent", 5, true, []];
  for (const input of notObjects) {
    it(`refuses ${JSON.stringify(input)}`, () => expect(parseIntent(input).ok).to.equal(false));
  }

  const refused: [what: string, input: unknown, ...errors: FieldError[]][] = [
    [
      "an empty object",
      {},
      { path: ".metadata", message: "is needed: add it" },
      { path: ".spec", message: "is needed: add it" },
    ],
    ["another kind", intent({}, { kind: "NodeVolumeSet" }), { path: ".kind", message: "must be NodeVolumeIntent" }],
    [
      "another version",
      intent({}, { apiVersion: "nodevolume.dev/v2" }),
      { path: ".apiVersion", message: "must be nodevolume.dev/v1alpha1" },
    ],
    [
      "an object without a name",
      intent({}, { metadata: { uid: "1" } }),
      { path: ".metadata.name", message: "must be a name" },
    ],
    ["an unknown field of the spec", intent({ fsGroup: 2000 }), { path: ".spec.fsGroup", message: notUnderstood }],
    [
      "an unknown field of a mount",
      intent({ mounts: [{ ...mount, subPath: "a" }] }),
      { path: ".spec.mounts[0].subPath", message: notUnderstood },
    ],
    [
      "a field by the name that it had before",
      intent({ nodeLossPolicy: { type: "AfterTimeout", minutes: 5 } }),
      { path: ".spec.nodeLossPolicy.minutes", message: notUnderstood },
    ],
    [
      "a policy without its time, as the API server shows one whose time had another name",
      intent({ nodeLossPolicy: { type: "AfterTimeout" } }),
      {
        path: ".spec.nodeLossPolicy.timeoutSeconds",
        message: "timeoutSeconds belongs to type: AfterTimeout: give both or neither",
      },
    ],
    [
      "a time below a minute",
      intent({ nodeLossPolicy: { type: "AfterTimeout", timeoutSeconds: 59 } }),
      {
        path: ".spec.nodeLossPolicy.timeoutSeconds",
        message: "must be from 60 (a minute) to 604800 (a week)",
      },
    ],
    [
      "an unknown source",
      intent({ source: { storageos: { volumeName: "a" } } }),
      { path: ".spec.source.storageos", message: notUnderstood },
    ],
    ["an unknown field beside the spec", intent({}, { data: {} }), { path: ".data", message: notUnderstood }],
    [
      "a missing field deep down",
      intent({ mounts: [mount, { name: "a", requester }] }),
      { path: ".spec.mounts[1].path", message: "is needed: add it" },
    ],
    [
      "a value of a closed set",
      intent({ mode: "manage" }),
      { path: ".spec.mode", message: 'must be one of "Manage", "Observe"' },
    ],
    [
      "a wrong type",
      intent({ mounts: [{ ...mount, readOnly: "yes" }] }),
      { path: ".spec.mounts[0].readOnly", message: "must be of type boolean" },
    ],
    [
      "a number or text that is neither",
      intent({ source: { emptyDir: { medium: "Memory", sizeLimit: true } } }),
      { path: ".spec.source.emptyDir.sizeLimit", message: "must be of type integer or string" },
    ],
    [
      "text that is too long",
      intent({ nodeUID: "a".repeat(65) }),
      { path: ".spec.nodeUID", message: "must NOT have more than 64 characters" },
    ],
    [
      "a path of two mounts",
      intent({ mounts: [mount, { ...mount, name: "b" }] }),
      { path: ".spec.mounts", message: "the paths of two mounts may not be the same, nor one beneath the other" },
    ],
    [
      "a name of two mounts",
      intent({ mounts: [mount, { ...mount, path: "/mnt/nodevolume/b" }] }),
      { path: ".spec.mounts[1].name", message: "each entry needs one of its own" },
    ],
    [
      "a path that leaves the prefix",
      intent({ mounts: [{ ...mount, path: "/mnt/../etc" }] }),
      {
        path: ".spec.mounts[0].path",
        message:
          "must be an absolute path below / without '.', '..', '//', control or invisible characters or a trailing '/'",
      },
    ],
    [
      "no source",
      intent({ source: {} }),
      {
        path: ".spec.source",
        message: "exactly one source is needed, such as nfs or csi; one without settings is written emptyDir: {}",
      },
    ],
  ];
  for (const [what, input, ...errors] of refused) {
    it(`names the field of ${what}`, () => {
      const parsed = parseIntent(input);
      expect(parsed.ok ? [] : parsed.errors).to.deep.equal(errors);
    });
  }

  it("reports all fields that are wrong, each once", () => {
    const parsed = parseIntent(intent({ nodeName: "A", volumeName: "B", source: { hostPath: { path: "x" } } }));
    const paths = parsed.ok ? [] : parsed.errors.map(({ path }) => path);
    expect(paths).to.have.members([".spec.nodeName", ".spec.volumeName", ".spec.source.hostPath.path"]);
  });

  it("takes metadata as it comes", () => {
    const metadata = { name: "a", selfLink: "/x", managedFields: [{}], annotations: { "a/b": "c" } };
    expect(parseIntent(intent({}, { metadata })).ok).to.equal(true);
  });

  it("takes an entry of a list, which has neither apiVersion nor kind", () => {
    expect(parseIntent(intent({}, { apiVersion: undefined, kind: undefined })).ok).to.equal(true);
  });

  it("does not run a rule on what does not have its form", () => {
    const parsed = parseIntent(intent({ mounts: "none", source: "emptyDir", mountOptions: { a: 1 } }));
    expect(parsed.ok ? [] : parsed.errors.map(({ path }) => path)).to.have.members([
      ".spec.mounts",
      ".spec.source",
      ".spec.mountOptions",
    ]);
  });

  it("refuses names that stand for members of Object.prototype", () => {
    const hostile = JSON.parse('{"__proto__": {}, "constructor": {}, "toString": 1}');
    const parsed = parseIntent(intent({ ...spec, ...hostile, ["__proto__x"]: 1 }));
    expect(parsed.ok ? [] : parsed.errors.map(({ path }) => path)).to.include.members([
      ".spec.constructor",
      ".spec.toString",
    ]);
    const source = JSON.parse('{"__proto__": {"path": "/etc"}, "emptyDir": {}}');
    expect(parseIntent(intent({ source }))).to.have.property("ok", false);
  });
});

describe("parseIntent on a status", () => {
  const birth = [
    {
      type: "Ready",
      status: "Unknown",
      reason: "NotObserved",
      message: "No agent has read this intent yet.",
      lastTransitionTime: "1970-01-01T00:00:00Z",
    },
  ];
  const statuses: [what: string, status: unknown, parsed: object][] = [
    ["that is not there", undefined, { conditions: birth }],
    ["that is known", { state: "Mounted", inUse: true }, { state: "Mounted", inUse: true }],
    ["with a field of a later version", { state: "Mounted", phase: "x" }, { state: "Mounted" }],
    [
      "with a field of a later version deep down",
      { agent: { bootID: "a", epoch: 1, zone: "z" } },
      { agent: { bootID: "a", epoch: 1 } },
    ],
    ["with a value of a later version", { state: "Frozen", inUse: false }, { state: "Frozen", inUse: false }],
    ["of a wrong form", "Mounted", { conditions: birth }],
    ["that is null", null, { conditions: birth }],
  ];
  for (const [what, status, expected] of statuses) {
    it(`takes one ${what}`, () => {
      const parsed = parseIntent(intent({}, { status }));
      expect(parsed.ok && parsed.value.status).to.deep.equal(expected);
    });
  }

  it("gives every parse its own status at birth", () => {
    const [a, b] = [parseIntent(intent({}, { status: null })), parseIntent(intent({}, { status: null }))];
    if (!a.ok || !b.ok) throw new Error("refused");
    a.value.status.conditions?.pop();
    expect(b.value.status.conditions).to.have.length(1);
  });
});

describe("parseSet", () => {
  it("fills in the defaults of the CRD", () => {
    const parsed = parseSet({ metadata: { name: "a" }, spec: { volume: { source: { emptyDir: {} } } } });
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.errors));
    expect(parsed.value.spec.rollout).to.deep.equal({ maxUnavailable: 1, onFailure: "Pause" });
    expect(parsed.value.spec).to.not.have.property("drainPolicy");
    expect(parsed.value.status).to.include({ observedGeneration: -1, summary: "NotObserved" });
    expect(parsed.value.status.conditions).to.have.length(1);
    expect(parsed.value.status.conditions?.[0]).to.include({ type: "Ready", status: "Unknown", reason: "NotObserved" });
  });

  const closed: [what: string, spec: object, path: string, message: string][] = [
    [
      "onFailure, with an unknown value",
      { rollout: { onFailure: "Stop" } },
      ".spec.rollout.onFailure",
      'must be one of "Pause", "Continue"',
    ],
    [
      "drainPolicy, with an unknown value",
      { drainPolicy: "Evict" },
      ".spec.drainPolicy",
      'must be one of "Release", "Keep"',
    ],
    [
      "onFailure, by its old name",
      { rollout: { pauseOnFailure: true } },
      ".spec.rollout.pauseOnFailure",
      notUnderstood,
    ],
    ["drainPolicy, by its old name", { releaseOnDrain: false }, ".spec.releaseOnDrain", notUnderstood],
  ];
  for (const [what, more, path, message] of closed) {
    it(`refuses ${what}`, () => {
      const parsed = parseSet({ metadata: { name: "a" }, spec: { volume: { source: { emptyDir: {} } }, ...more } });
      expect(parsed.ok ? [] : parsed.errors).to.deep.equal([{ path, message }]);
    });
  }
  it("names a label as the API server does", () => {
    const parsed = parseSet({
      metadata: { name: "a" },
      spec: { nodeSelector: { "a/b": "c d" }, volume: { source: { emptyDir: {} } } },
    });
    expect(parsed.ok ? [] : parsed.errors.map(({ path }) => path)).to.deep.equal([".spec.nodeSelector.a/b"]);
  });

  it("names a label with a slash whose value is no text", () => {
    const spec = { nodeSelector: { "a/b~c": 5 }, volume: { source: { emptyDir: {} } } };
    const parsed = parseSet({ metadata: { name: "a" }, spec });
    expect(parsed.ok ? [] : parsed.errors.map(({ path }) => path)).to.deep.equal([".spec.nodeSelector.a/b~c"]);
  });
});

function deepFreeze<T extends object>(object: T): T {
  for (const value of Object.values(object)) if (typeof value === "object" && value !== null) deepFreeze(value);
  return Object.freeze(object);
}
