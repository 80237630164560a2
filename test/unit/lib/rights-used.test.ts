import { expect } from "chai";
import { readExceptions, rightsFindings, rightsGiven, usageOf } from "../../lib/cluster/rights-used.ts";

const agent = { username: "system:serviceaccount:nodevolume-system:nodevolume-agent" };
const line = (more: object) =>
  JSON.stringify({
    verb: "get",
    user: agent,
    userAgent: "nodevolume-agent/0.1.0",
    objectRef: { resource: "leases", apiGroup: "coordination.k8s.io" },
    annotations: { "authorization.k8s.io/decision": "allow" },
    ...more,
  });
const patchStatus = {
  verb: "patch",
  objectRef: { resource: "nodevolumeintents", subresource: "status", apiGroup: "nodevolume.dev" },
};
const forbid = { annotations: { "authorization.k8s.io/decision": "forbid" } };

describe("rights that are used", () => {
  it("are those of our programs, and not of tests that have their tokens", () => {
    const log = [
      line({}),
      line({ ...patchStatus, userAgent: "nodevolume-test" }),
      line({ ...patchStatus, user: { username: "system:node:n" } }),
      line({ objectRef: undefined }),
      "",
    ].join("\n");
    expect([...usageOf(log).used]).to.deep.equal(["agent: get leases.coordination.k8s.io"]);
    expect([...usageOf(line(patchStatus)).used]).to.deep.equal([
      "agent: patch nodevolumeintents.nodevolume.dev/status",
    ]);
  });

  it("are two for what is asked as somebody else", () => {
    const impersonatedUser = { username: "system:node:n" };
    const { used } = usageOf(line({ impersonatedUser, objectRef: { resource: "secrets" } }));
    expect([...used]).to.deep.equal([
      "agent: impersonate-on:associated-node:get secrets",
      "agent: impersonate:associated-node nodes.authentication.k8s.io",
    ]);
  });

  it("are not those that RBAC has refused", () => {
    const { used, refused } = usageOf(line({ ...patchStatus, ...forbid }));
    expect([...used]).to.deep.equal([]);
    expect([...refused]).to.deep.equal(["agent: patch nodevolumeintents.nodevolume.dev/status"]);
  });

  const given = new Map([
    ["agent: get pods", 1],
    ["agent: list pods", 2],
  ]);
  const found = (log: string[], unused: string[] = [], refused: string[] = [], sometimes: string[] = []) => {
    const because = (rights: string[]) => [{ rights, why: "" }];
    const listed = { unused: because(unused), refused: because(refused), sometimes: because(sometimes) };
    return rightsFindings(given, usageOf(log.join("\n")), listed);
  };
  const pods = (verb: string, more: object = {}) => line({ verb, objectRef: { resource: "pods" }, ...more });

  it("finds a right that nobody used", () => {
    expect(found([pods("list")])).to.deep.equal(["given 2 times: agent: list pods", "not used: agent: get pods"]);
    expect(found([pods("list")], ["agent: get pods"])).to.deep.equal(["given 2 times: agent: list pods"]);
  });

  it("finds an exception that is none any more", () => {
    const both = [pods("list"), pods("get")];
    expect(found(both, ["agent: get pods", "agent: get nodes"])).to.deep.equal([
      "given 2 times: agent: list pods",
      "listed as unused, and not given: agent: get nodes",
      "listed as unused, and used: agent: get pods",
    ]);
  });

  it("lets pass what is used sometimes, in a run with it and in one without", () => {
    const twice = "given 2 times: agent: list pods";
    expect(found([pods("list")], [], [], ["agent: get pods"])).to.deep.equal([twice]);
    expect(found([pods("list"), pods("get")], [], [], ["agent: get pods"])).to.deep.equal([twice]);
  });

  it("finds a request that RBAC has refused, unless it is known why", () => {
    const log = [pods("list"), pods("get"), pods("delete", forbid)];
    expect(found(log)).to.include("refused by RBAC: agent: delete pods");
    expect(found(log, [], ["agent: delete pods"])).not.to.include("refused by RBAC: agent: delete pods");
  });

  it("have exceptions with a reason each, of rights that are given, and no right is given twice", () => {
    const { unused, sometimes, refused } = readExceptions();
    for (const { rights, why } of [...unused, ...sometimes, ...refused]) {
      expect(why, rights.join()).to.match(/\w{3}/);
      expect(rights).not.to.deep.equal([]);
    }
    const all = new Set(rightsGiven().keys());
    const usage = {
      used: new Set([...all].filter((right) => !right.includes("write-any-node"))),
      refused: new Set<string>(),
    };
    expect(rightsFindings(rightsGiven(), usage, readExceptions())).to.deep.equal([]);
  });

  it("are given by config/rbac, to each account by its bindings", () => {
    const rights = rightsGiven();
    expect(rights.get("agent: patch nodevolumeintents.nodevolume.dev/status")).to.equal(1);
    expect(rights.get("agent: create events")).to.equal(1);
    expect(rights.get("controller: create pods")).to.equal(1);
    expect(rights.has("agent: create pods")).to.equal(false);
    expect(rights.has("controller: impersonate-on:associated-node:get secrets")).to.equal(false);
  });
});
