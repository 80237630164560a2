import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { load } from "js-yaml";
import { root } from "../../hack/lib/root.ts";
import { stopFormatMs } from "../../src/agent/loop.ts";
import { parseConfig } from "../../src/config.ts";
import { longestEndMs } from "../../src/csi/server/pod-driver.ts";

interface VolumeMount {
  readonly name: string;
  readonly mountPath: string;
  readonly mountPropagation?: string;
}

interface Container {
  readonly name: string;
  readonly args: readonly string[];
  readonly restartPolicy?: string;
  readonly env: readonly { readonly name: string; readonly value?: string }[];
  readonly ports?: readonly object[];
  readonly securityContext: { readonly [key: string]: unknown };
  readonly volumeMounts: readonly VolumeMount[];
}

interface DaemonSet {
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly priorityClassName: string;
        readonly terminationGracePeriodSeconds: number;
        readonly tolerations: readonly object[];
        readonly automountServiceAccountToken: boolean;
        readonly initContainers: readonly [Container];
        readonly containers: readonly [Container];
        readonly volumes: readonly {
          readonly name: string;
          readonly projected?: { readonly sources: readonly object[] };
        }[];
      };
    };
  };
}

describe("the agent's DaemonSet", () => {
  const daemonSet = load(readFileSync(join(root, "config/agent/daemonset.yaml"), "utf8")) as DaemonSet;
  const { priorityClassName, terminationGracePeriodSeconds, tolerations, containers } = daemonSet.spec.template.spec;
  const [agent] = containers;
  const [proxy] = daemonSet.spec.template.spec.initContainers;
  const { volumeMounts } = agent;

  it("is of the last pods to go when a node is shut down, and of those that nothing drives away", () => {
    // kubelet ends the pods of each priority in turn, and waits for their volumes to be unmounted before the next.
    expect(priorityClassName).to.equal("system-node-critical");
    expect(tolerations).to.deep.equal([{ operator: "Exists" }]);
  });

  it("mounts nothing of the node twice for others to see: a mount that spreads lies in no other one that does", () => {
    const spreading = volumeMounts.filter(({ mountPropagation }) => mountPropagation === "Bidirectional");
    const paths = spreading.map(({ mountPath }) => mountPath);
    expect(paths).to.include.members(["/var/lib/nodevolume", "/var/lib/kubelet/pods"]);
    // Nested, each restart of the pod would leave one more copy of the inner one in the outer one.
    for (const path of paths) {
      expect(
        paths.filter((other) => other !== path && `${path}/`.startsWith(`${other}/`)),
        path,
      ).to.deep.equal([]);
    }
  });

  it("gives the agent longer to end than that takes at most", () => {
    expect(terminationGracePeriodSeconds * 1_000).to.be.greaterThan(longestEndMs + stopFormatMs);
  });

  it("gives the token to the container that is not root, and to no other", () => {
    const { automountServiceAccountToken, volumes } = daemonSet.spec.template.spec;
    expect(automountServiceAccountToken).to.equal(false);
    const withToken = volumes.filter(({ projected }) => projected?.sources.some((one) => "serviceAccountToken" in one));
    expect(withToken.map(({ name }) => name)).to.deep.equal(["api-access"]);
    const have = [proxy, agent].filter((one) => one.volumeMounts.some(({ name }) => name === "api-access"));
    expect(have.map(({ name }) => name)).to.deep.equal(["api-proxy"]);
    expect(proxy.securityContext).to.deep.equal({
      ...{ runAsUser: 59818, runAsGroup: 59818, runAsNonRoot: true, allowPrivilegeEscalation: false },
      ...{ readOnlyRootFilesystem: true, capabilities: { drop: ["ALL"] }, seccompProfile: { type: "RuntimeDefault" } },
    });
  });

  it("asks for a token that is good for an hour, as the controller does", () => {
    // 3607 is what an API server puts into pods that ask for nothing, and makes a year of:
    // --service-account-extend-token-expiration.
    const asked = ["agent/daemonset", "overlays/observe-only/agent-volumes", "controller/deployment"].map((name) => {
      const text = readFileSync(join(root, `config/${name}.yaml`), "utf8");
      return [...text.matchAll(/serviceAccountToken: \{path: token, expirationSeconds: (\d+)\}/g)].map(([, of]) => of);
    });
    expect(asked).to.deep.equal([["3600"], ["3600"], ["3600"]]);
    const controller = readFileSync(join(root, "config/controller/deployment.yaml"), "utf8");
    expect(controller).to.contain("automountServiceAccountToken: false");
  });

  it("gives that container nothing of the node: the token, the socket that the agent asks by, and how loud to be", () => {
    expect(proxy.volumeMounts.map(({ name }) => name)).to.deep.equal(["api", "api-access", "log-level"]);
    expect(proxy.restartPolicy, "there before the agent, and longer").to.equal("Always");
    const { api } = parseConfig(agent.args, environment(agent));
    const { socket } = { socket: "", ...parseConfig(proxy.args, environment(proxy)) };
    expect(api.server).to.equal(`unix://${socket}`);
    const [at] = volumeMounts.filter(({ name }) => name === "api");
    expect(socket.startsWith(`${at?.mountPath}/`)).to.equal(true);
  });

  it("serves what is root to this node alone, and its metrics by the other", () => {
    const { metricsAddress: own } = parseConfig(agent.args, environment(agent));
    const { agentMetrics, metricsAddress } = {
      agentMetrics: undefined,
      ...parseConfig(proxy.args, environment(proxy)),
    };
    expect(own).to.deep.equal({ host: "127.0.0.1", port: 9819 });
    expect([agentMetrics, metricsAddress]).to.deep.equal([own, { host: "$(HOST_IP)", port: 9818 }]);
    expect([agent.ports, proxy.ports]).to.deep.equal([undefined, [{ name: "metrics", containerPort: 9818 }]]);
  });
});

function environment({ env }: Container): { readonly [name: string]: string } {
  const given = Object.fromEntries(env.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])));
  return { NODE_NAME: "n", KUBERNETES_SERVICE_HOST: "192.0.2.1", ...given };
}
