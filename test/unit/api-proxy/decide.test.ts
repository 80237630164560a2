import { expect } from "chai";
import { type Call, decide } from "../../../src/api-proxy/decide.ts";
import { ownOf } from "../../../src/api-proxy/own.ts";
import { rules } from "../../../src/api-proxy/rules.ts";
import { observedIdentity, volumeIdentity } from "../../../src/controller/model/volume-identity.ts";
import { type AgentRequest, asked, first, judge, own } from "../../lib/api-proxy/requests.ts";

const passed = (request: AgentRequest) => decide(request, own) as Call;

const mayAskAsNode = ["secret", "node", "node-fields", "pods", "kubelet-lease"];

describe("decide, the closed set of the API proxy", () => {
  it("has each rule tried", () => {
    expect(rules.map(({ name }) => name).sort()).to.deep.equal(Object.keys(asked).sort());
  });

  for (const [rule, requests] of Object.entries(asked)) {
    it(`lets an agent's request through: ${rule}`, () => {
      for (const request of requests) {
        expect(judge(request), request.target).to.equal(rule);
        const { path, method } = passed(request);
        expect({ method, path: path.split("?")[0] }).to.deep.equal({
          method: request.method,
          path: request.target.split("?")[0],
        });
        expect(sorted(path)).to.equal(sorted(request.target));
      }
    });
  }

  it("knows the names that the controller gives to intents, of long nodes too, and takes those of no other node", () => {
    const volume = { source: { hostPath: { path: "/srv/Data Sets" } }, volumeMode: "Filesystem" as const };
    const nameOn = (nodeName: string) => volumeIdentity({ nodeName, setName: "s", setUID: "u", volume }).intentName;
    const long = `${"a".repeat(60)}.${"b".repeat(60)}.${"c".repeat(60)}.${"d".repeat(60)}`;
    const nodes = ["node-1", "node-1.example", "node", "1", long, `${long}e`];
    for (const name of nodes) {
      for (const other of nodes) {
        for (const intentName of [nameOn(other), observedIdentity(other, "team", "claim").intentName]) {
          const target = `/apis/nodevolume.dev/v1alpha1/nodevolumeintents/${intentName}`;
          const expected = name === other ? "intent" : "rule: no rule is for this path";
          expect(judge({ ...first("intent"), target }, ownOf(name)), `${intentName} on ${name}`).to.equal(expected);
        }
      }
    }
  });

  describe("refuses what is near", () => {
    const targets: readonly [what: string, rule: string, of: (target: string) => string][] = [
      ["another node's intents", "intents", (t) => t.replace("node-1", "node-2")],
      ["all intents", "intents", (t) => t.replace(/&?fieldSelector=[^&]*/, "")],
      ["a second field selector", "intents", (t) => `${t}&fieldSelector=spec.nodeName%3Dnode-2`],
      ["a parameter twice", "intents", (t) => `${t}&limit=500`],
      ["a second term of the selector", "intents", (t) => t.replace("node-1", "node-1%2Cmetadata.name%3Dx")],
      ["a selector that is not equal", "intents", (t) => t.replace("%3D", "%21%3D")],
      ["a selector of labels", "intents", (t) => `${t}&labelSelector=a`],
      ["a resourceVersion of a list", "intents", (t) => `${t}&resourceVersion=0`],
      ["a follow by another name", "intents", (t) => `${t}&watch=true`],
      ["a parameter that is spelt otherwise", "intents", (t) => t.replace("limit", "%6cimit")],
      ["an old watch", "intents", (t) => t.replace("/v1alpha1/", "/v1alpha1/watch/")],
      ["another page size", "intents", (t) => t.replace("limit=500", "limit=0")],
      ["another node's intent", "intent", (t) => t.replace("node-1", "node-2")],
      ["an intent of a node with a longer name", "intent", (t) => t.replace("node-1.", "node-1.a.")],
      ["all intents by the path of one", "intent", (t) => t.replace(/[^/]+$/, "")],
      ["a subresource", "intent", (t) => `${t}/status`],
      ["a scale", "intent", (t) => `${t}/scale`],
      ["dots", "intent", (t) => t.replace("nodevolumeintents", "nodevolumesets/../nodevolumeintents")],
      ["a dot", "intent", (t) => t.replace("nodevolumeintents", "./nodevolumeintents")],
      ["encoded dots", "intent", (t) => t.replace("nodevolumeintents", "x/%2e%2e/nodevolumeintents")],
      ["an encoded slash", "intent", (t) => t.replace("/nodevolumeintents/", "/nodevolumeintents%2f")],
      ["an encoded letter", "intent", (t) => t.replace("node-1", "n%6fde-1")],
      ["a double slash", "intent", (t) => t.replace("/nodevolumeintents/", "//nodevolumeintents/")],
      ["a slash before all", "intent", (t) => `/${t}`],
      ["a slash behind all", "intent", (t) => `${t}/`],
      ["a backslash", "intent", (t) => t.replace("/nodevolumeintents/", "/nodevolumeintents\\")],
      ["a semicolon", "intent", (t) => `${t};a=b`],
      ["a fragment", "intent", (t) => `${t}#a`],
      ["an empty query", "intent", (t) => `${t}?`],
      ["a query", "intent", (t) => `${t}?resourceVersion=0`],
      ["a pretty answer", "intent", (t) => `${t}?pretty=true`],
      ["an absolute form", "intent", (t) => `http://api-proxy${t}`],
      ["another host", "intent", (t) => `//evil.example${t}`],
      ["the set of an intent", "intent", (t) => t.replace("nodevolumeintents", "nodevolumesets")],
      ["another version", "intent", (t) => t.replace("v1alpha1", "v1")],
      ["another node's Lease", "lease", (t) => t.replace("node-1", "node-2")],
      ["the leader's Lease", "lease", (t) => t.replace("node-1", "nodevolume-controller")],
      ["a Lease elsewhere", "lease", (t) => t.replace("nodevolume-system", "kube-system")],
      ["a dry run of another kind", "policy-probe", (t) => t.replace("dryRun=All", "dryRun=None")],
      ["a dry run of the status", "intent-status", (t) => `${t}&dryRun=All`],
      ["a write by force", "intent-status", (t) => `${t}&force=true`],
      ["another field manager", "intent-status", (t) => t.replace("nodevolume-agent", "nodevolume-controller")],
      ["a write that is not strict", "intent-status", (t) => t.replace("Strict", "Ignore")],
      ["the spec", "intent-status", (t) => t.replace("/status", "")],
      ["another node's status", "intent-status", (t) => t.replace("node-1", "node-2")],
      ["another node's state", "state-status", (t) => t.replace("node-1", "node-2")],
      ["events elsewhere", "event", (t) => t.replace("default", "kube-system")],
      ["all Secrets of a namespace", "secret-content", (t) => t.replace(/&?fieldSelector=[^&]*/, "")],
      ["Secrets of all namespaces", "secret-content", (t) => t.replace("/namespaces/team", "")],
      ["Secrets by another field", "secret-content", (t) => t.replace("metadata.name", "type")],
      ["a Secret whose name is empty", "secret-content", (t) => t.replace("%3Ddb", "%3D")],
      ["a token of another kind", "token", (t) => t.replace("serviceaccounts", "pods")],
      ["a pod's shell", "token", (t) => t.replace("serviceaccounts/reader/token", "pods/a/exec")],
      ["another Node", "node", (t) => t.replace("node-1", "node-2")],
      ["the kubelet by way of the API server", "node", (t) => `${t}/proxy`],
      ["all Nodes", "node-fields", (t) => t.replace(/&?fieldSelector=[^&]*/, "")],
      ["pods of another node", "pods", (t) => t.replace("node-1", "node-2")],
      ["pods of all nodes", "pods", (t) => t.replace(/&?fieldSelector=[^&]*/, "")],
      ["a watch of pods", "pods", () => first("node-fields", 4).target.replace("/nodes", "/pods")],
      ["another CSIDriver", "csi-driver", (t) => t.replace("csi.nodevolume.dev", "csi.example.com")],
      ["the list of what there is", "csi-driver", () => "/apis"],
      ["the metrics of the server", "csi-driver", () => "/metrics"],
      ["a target that is none", "csi-driver", () => "*"],
      ["a long target", "intent", (t) => `${t}?${"a".repeat(20_000)}`],
    ];
    for (const [what, rule, of] of targets) {
      it(what, () => {
        const request = first(rule);
        const changed = { ...request, target: of(request.target) };
        expect(changed.target).not.to.equal(request.target);
        expect(judge(changed), changed.target).to.match(/^(form|rule): /);
      });
    }

    for (const method of [
      "DELETE",
      "POST",
      "PUT",
      "PATCH",
      "HEAD",
      "OPTIONS",
      "CONNECT",
      "TRACE",
      "get",
      "WATCH",
      "",
    ]) {
      it(`another method: ${method}`, () => {
        expect(judge({ ...first("intent"), method })).to.match(/^rule: /);
        if (method !== "PATCH") expect(judge({ ...first("intent-status"), method })).to.match(/^rule: /);
      });
    }

    const headers: readonly [string, string][] = [
      ["authorization", "Bearer stolen"],
      ["Authorization", ""],
      ["impersonate-user", "system:admin"],
      ["impersonate-group", "system:masters"],
      ["impersonate-uid", "1"],
      ["impersonate-extra-authentication.kubernetes.io%2fnode-name", "node-2"],
      ["x-remote-user", "system:admin"],
      ["x-http-method-override", "DELETE"],
      ["x-forwarded-for", "10.0.0.1"],
      ["transfer-encoding", "chunked"],
      ["upgrade", "SPDY/3.1"],
      ["connection", "upgrade"],
      ["connection", "keep-alive, impersonate-user"],
      ["te", "trailers"],
      ["trailer", "impersonate-user"],
      ["expect", "100-continue"],
      ["accept", "application/json;as=Table"],
      ["accept-encoding", "gzip"],
      ["cookie", "a=b"],
      ["content-length", "0"],
      ["content-type", "application/json"],
      ["host", "a b"],
      ["user-agent", "a\nb"],
      ["__proto__", "a"],
    ];
    for (const [name, value] of headers) {
      it(`the header ${name}: ${JSON.stringify(value)}`, () => {
        const request = first("intent");
        const others = Array.from({ length: request.headers.length / 2 }, (_, i) => i * 2)
          .filter((i) => request.headers[i]?.toLowerCase() !== name.toLowerCase())
          .flatMap((i) => request.headers.slice(i, i + 2));
        expect(judge({ ...request, headers: [...others, name, value] })).to.match(/^(form|rule): /);
      });
    }

    it("the same header twice", () => {
      const request = first("secret", 1);
      const twice = [...request.headers, "Impersonate-User", "system:node:node-1"];
      expect(judge({ ...request, headers: twice })).to.equal("form: the header impersonate-user is there twice");
    });

    it("another node's name to be asked as, and the node's own where the agent is asked for", () => {
      const as = (user: string, rule: string) =>
        judge({ ...first(rule), headers: [...first(rule).headers, "impersonate-user", user] });
      expect(as("system:node:node-1", "secret")).to.equal("secret");
      expect(as("system:node:node-2", "secret")).to.equal("rule: the request may not impersonate that user");
      for (const rule of Object.keys(asked).filter((name) => !mayAskAsNode.includes(name)))
        expect(as("system:node:node-1", rule), rule).to.equal("rule: the request may not impersonate that user");
    });

    it("a body that is longer than the rule has, of another type, or of no length", () => {
      const replaced = (rule: string, name: string, value: string) => {
        const request = first(rule);
        const at = request.headers.indexOf(name) + 1;
        return judge({ ...request, headers: request.headers.with(at, value) });
      };
      expect(replaced("intent-status", "content-length", String(1_536 * 1024))).to.equal("intent-status");
      expect(replaced("intent-status", "content-length", String(1_536 * 1024 + 1))).to.match(/^rule: /);
      expect(replaced("event", "content-length", "32769")).to.match(/^rule: /);
      for (const length of ["-1", "1e3", "0x10", "+1", "01", "1,1", " 1", "9999999999"])
        expect(replaced("event", "content-length", length), length).to.match(/^form: /);
      expect(replaced("event", "content-type", "application/merge-patch+json")).to.match(/^rule: /);
      expect(replaced("intent-status", "content-type", "application/json")).to.match(/^rule: /);
      expect(replaced("intent-status", "content-type", "application/strategic-merge-patch+json")).to.match(/^form: /);
      const { headers } = first("event");
      expect(judge({ ...first("event"), headers: headers.slice(0, -2) })).to.match(/^rule: /);
    });
  });
});

function sorted(target: string): string {
  const [path, search = ""] = target.split("?");
  return `${path}?${search.split("&").sort().join("&")}`;
}
