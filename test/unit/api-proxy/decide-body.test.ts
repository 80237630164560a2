import { expect } from "chai";
import { type Call, decide, decideBody } from "../../../src/api-proxy/decide.ts";
import { bodies, judge, node, own, paths, write } from "../../lib/api-proxy/requests.ts";

const metadata = (more: object) => ({
  ...bodies.intentStatus,
  metadata: { ...bodies.intentStatus.metadata, ...more },
});
const lease = (name: string) => ({ ...bodies.lease, metadata: { ...bodies.lease.metadata, name } });
const token = (more: object) => ({ ...bodies.token, spec: { ...bodies.token.spec, ...more } });

const levels = 100_000;
const deep = `{"metadata":{"uid":"8a1f","resourceVersion":"1"},"status":${'{"a":'.repeat(levels)}1${"}".repeat(levels)}}`;

describe("decideBody refuses a body", () => {
  const wrong: readonly [what: string, method: string, target: string, body: unknown][] = [
    ["that is none", "PATCH", paths.intentStatus, "{"],
    ["that is too deep to be written again", "PATCH", paths.intentStatus, deep],
    ["that is a list", "PATCH", paths.intentStatus, [bodies.intentStatus]],
    ["with a spec", "PATCH", paths.intentStatus, { ...bodies.intentStatus, spec: {} }],
    ["without a version", "PATCH", paths.intentStatus, { ...bodies.intentStatus, metadata: { uid: "8a1f" } }],
    ["with a finalizer", "PATCH", paths.intentStatus, metadata({ finalizers: null })],
    ["with labels", "PATCH", paths.intentStatus, metadata({ labels: { a: "b" } })],
    [
      "with what the controller writes",
      "PATCH",
      paths.intentStatus,
      { ...bodies.intentStatus, status: { attach: null } },
    ],
    [
      "with what the controller says of it",
      "PATCH",
      paths.intentStatus,
      { ...bodies.intentStatus, status: { agentState: {} } },
    ],
    ["with no status", "PATCH", paths.stateStatus, { metadata: bodies.stateStatus.metadata }],
    ["of another's Lease", "POST", paths.leases, lease("node-2")],
    ["of the probe's Lease, to be kept", "POST", paths.leases, bodies.probe],
    ["of a Lease, in the place of a probe", "POST", paths.probe, bodies.lease],
    ["of another's Lease, by the path of our own", "PUT", paths.lease, lease("node-2")],
    ["of a Lease that another holds", "PUT", paths.lease, { ...bodies.lease, spec: { holderIdentity: "node-2" } }],
    ["of a Lease elsewhere", "POST", paths.leases, { ...bodies.lease, metadata: { namespace: "a", name: node } }],
    [
      "of another's Event",
      "POST",
      paths.events,
      { ...bodies.event, source: { ...bodies.event.source, host: "node-2" } },
    ],
    [
      "of the controller's Event",
      "POST",
      paths.events,
      { ...bodies.event, reportingComponent: "nodevolume-controller" },
    ],
    ["of an Event elsewhere", "POST", paths.events, { ...bodies.event, metadata: { namespace: "team", name: "a" } }],
    [
      "of an Event with labels",
      "POST",
      paths.events,
      { ...bodies.event, metadata: { ...bodies.event.metadata, labels: {} } },
    ],
    [
      "of an Event about a pod",
      "POST",
      paths.events,
      { ...bodies.event, involvedObject: { apiVersion: "v1", kind: "Pod" } },
    ],
    ["that makes an Event another", "PATCH", paths.event, { ...bodies.again, source: { host: "node-2" } }],
    ["that names an Event anew", "PATCH", paths.event, { ...bodies.again, metadata: { name: "a" } }],
    ["of a token for ever", "POST", paths.token, token({ expirationSeconds: 86_401 })],
    ["of a token of no end", "POST", paths.token, token({ expirationSeconds: undefined })],
    [
      "of a token bound to another Node",
      "POST",
      paths.token,
      token({ boundObjectRef: { kind: "Node", name: "node-2" } }),
    ],
    ["of a token bound to a pod", "POST", paths.token, token({ boundObjectRef: { kind: "Pod", name: node } })],
    ["of a token bound to nothing", "POST", paths.token, token({ boundObjectRef: undefined })],
  ];
  for (const [what, method, target, body] of wrong) {
    it(what, () => expect(judge(write(method, target, body))).to.match(/^body: /));
  }

  it("and passes on what it has understood, not what came", () => {
    const twice =
      '{"status":{"state":"Released"},"status":{"state":"Mounted"},"metadata":{"uid":"a","resourceVersion":"1"}}';
    const request = write("PATCH", paths.intentStatus, twice);
    expect(decideBody(decide(request, own) as Call, twice, own)).to.deep.equal({
      body: '{"status":{"state":"Mounted"},"metadata":{"uid":"a","resourceVersion":"1"}}',
    });
  });
});
