import { expect } from "chai";
import { ConfigError, parseConfig } from "../../src/config.ts";

const access = ["--api-server", "https://127.0.0.1:1"];
const roles = { controller: ["--identity", "c"], agent: ["--node-name", "n"] };

describe("parseConfig", () => {
  it("looks at what kubelet mounts unless it is told otherwise", () => {
    const observed = (argv: string[], env = {}) =>
      parseConfig(["controller", "--identity", "c", ...argv], {
        ...{ KUBERNETES_SERVICE_HOST: "10.0.0.1", KUBERNETES_SERVICE_PORT: "443" },
        ...env,
      });
    expect(observed([])).to.include({ observePods: "PersistentVolumes" });
    expect(observed(["--observe-pods=None"])).to.include({ observePods: "None" });
    expect(observed([], { NODEVOLUME_OBSERVE_PODS: "None" })).to.include({ observePods: "None" });
    expect(() => observed(["--observe-pods=All"])).to.throw(ConfigError, "--observe-pods");
  });

  it("refuses a prefix that has the agent's own state in it, and takes others in the state directory", () => {
    const agent = (...prefixes: string[]) =>
      parseConfig(["agent", ...access, ...roles.agent, ...prefixes.map((one) => `--allowed-prefix=${one}`)], {});
    for (const prefix of ["/var", "/var/lib/nodevolume", "/var/lib/nodevolume/data", "/var/lib/nodevolume/staging/x"])
      expect(() => agent("/mnt", prefix)).to.throw(
        ConfigError,
        `--allowed-prefix: "${prefix}" has the agent's own state`,
      );
    for (const prefix of ["/var/lib/nodevolume/mounts", "/var/lib/nodevolume-data", "/var/lib/nodevolume/data-of-ours"])
      expect(agent(prefix)).to.deep.include({ allowedPrefixes: [prefix] });
  });

  it("has agents watch their intents, and no index, unless it is told otherwise", () => {
    const controller = (flags: string[], env = {}) =>
      parseConfig(["controller", ...access, ...roles.controller, ...flags], env);
    const agent = (flags: string[], env = {}) => parseConfig(["agent", ...access, ...roles.agent, ...flags], env);
    expect(controller([])).to.include({ indexIntents: false });
    expect(agent([])).to.include({ intents: "Watch" });
    expect(controller([], { NODEVOLUME_INDEX_INTENTS: "true" })).to.include({ indexIntents: true });
    expect(controller(["--index-intents=false"], { NODEVOLUME_INDEX_INTENTS: "true" })).to.include({
      indexIntents: false,
    });
    expect(agent([], { NODEVOLUME_INTENTS: "Index" })).to.include({ intents: "Index" });
    expect(agent(["--intents=Watch"], { NODEVOLUME_INTENTS: "Index" })).to.include({ intents: "Watch" });
    expect(() => agent(["--intents=index"])).to.throw(ConfigError, '--intents: "index" is not one of Watch, Index');
    expect(() => controller(["--index-intents=yes"])).to.throw(ConfigError, "--index-intents");
  });

  for (const [role, own] of Object.entries({ ...roles, "api-proxy": roles.agent })) {
    it(`runs in the namespace nodevolume-system alone, or in no pod: ${role}`, () => {
      const start = (env: { [name: string]: string }) => parseConfig([role, ...access, ...own], env);
      expect(start({}).role).to.equal(role);
      expect(start({ NODEVOLUME_NAMESPACE: "nodevolume-system" }).role).to.equal(role);
      expect(() => start({ NODEVOLUME_NAMESPACE: "storage-system" })).to.throw(
        ConfigError,
        'in the namespace "storage-system", and runs in nodevolume-system alone',
      );
    });
  }

  for (const [role, own] of Object.entries(roles)) {
    const parse = (flags: string[] = [], env = {}) => {
      const config = parseConfig([role, ...access, ...own, ...flags], env);
      if (config.role === "api-proxy") throw new Error("another role");
      return config;
    };

    it(`has volumes attached by the controller unless it is told otherwise: ${role}`, () => {
      expect(parse().controllerAttachDetach).to.equal(true);
      expect(parse(["--controller-attach-detach=false"]).controllerAttachDetach).to.equal(false);
      const env = { NODEVOLUME_CONTROLLER_ATTACH_DETACH: "false" };
      expect(parse([], env).controllerAttachDetach).to.equal(false);
      expect(parse(["--controller-attach-detach", "true"], env).controllerAttachDetach).to.equal(true);
    });

    it(`takes policies that somebody has changed on purpose by their digests: ${role}`, () => {
      const [a, b] = ["0123456789abcdef", "fedcba9876543210"];
      expect(parse().acceptedPolicies.size).to.equal(0);
      const env = { NODEVOLUME_ACCEPTED_POLICIES: `nodevolume-pods=${a},nodevolume-intents=${a}` };
      expect([...parse([], env).acceptedPolicies.keys()]).to.deep.equal(["nodevolume-pods", "nodevolume-intents"]);
      const flag = parse([`--accepted-policies=nodevolume-pods=${a},nodevolume-pods=${b}`], env);
      expect([...flag.acceptedPolicies]).to.deep.equal([["nodevolume-pods", new Set([a, b])]]);
      for (const text of ["nodevolume-pods", `mine=${a}`, "nodevolume-pods=any", `nodevolume-pods=${a}0`]) {
        expect(() => parse(["--accepted-policies", text]), text).to.throw(ConfigError, "--accepted-policies");
      }
    });

    it(`takes one audience of tokens, or none: ${role}`, () => {
      const of = (flags: string[], env = {}) => parse(flags, env).metricsTokenAudience;
      expect(of([])).to.equal(undefined);
      expect(of([], { NODEVOLUME_METRICS_TOKEN_AUDIENCE: "" })).to.equal(undefined);
      expect(of([], { NODEVOLUME_METRICS_TOKEN_AUDIENCE: "https://metrics.example" })).to.equal(
        "https://metrics.example",
      );
      for (const text of ["a b", "a,b", "a\n"]) {
        expect(() => of([`--metrics-token-audience=${text}`]), text).to.throw(ConfigError, "must be one audience");
      }
    });

    it(`takes nothing for a no that is none: ${role}`, () => {
      for (const text of ["", "False", "0", "no"]) {
        expect(() => parse([`--controller-attach-detach=${text}`]), text)
          .to.throw(ConfigError)
          .with.property("message", `--controller-attach-detach: ${JSON.stringify(text)} is not one of true, false`);
      }
    });
  }

  describe("agent", () => {
    const parse = (flags: string[] = [], env = {}) => {
      const config = parseConfig(["agent", ...access, ...roles.agent, ...flags], env);
      if (config.role !== "agent") throw new Error("another role");
      return config;
    };

    it("serves no Node that has the name of a Lease which is none of an agent", () => {
      for (const name of ["nodevolume-controller", "policy-probe.nodevolume.dev"]) {
        expect(() => parse(["--node-name", name]), name).to.throw(ConfigError, "give the Node another name");
      }
    });

    it("finds the places of CSI beneath kubelet's directory", () => {
      expect(parse()).to.include({
        kubeletDir: "/var/lib/kubelet",
        csiRegistrationDir: "/var/lib/kubelet/plugins_registry",
      });
      const moved = { kubeletDir: "/data/kubelet", csiDir: "/data/kubelet/plugins/nodevolume.dev" };
      expect(parse(["--kubelet-dir", "/data/kubelet"])).to.include(moved);
      expect(parse([], { NODEVOLUME_KUBELET_DIR: "/data/kubelet" })).to.include(moved);
      expect(() => parse(["--kubelet-dir", "data"])).to.throw(ConfigError, "--kubelet-dir");
    });

    it("finds vendors' drivers and Flocker where kubelet did", () => {
      const places = { flexVolumeDir: "/usr/libexec/kubernetes/kubelet-plugins/volume/exec" };
      expect(parse()).to.deep.include({ ...places, flocker: { host: "localhost", port: 4523 } });
      expect(parse(["--flex-volume-dir=/opt/exec"]).flexVolumeDir).to.equal("/opt/exec");
      const env = { FLOCKER_CONTROL_SERVICE_HOST: "fd00::1", FLOCKER_CONTROL_SERVICE_PORT: "4524" };
      expect(parse([], env).flocker).to.deep.equal({ host: "fd00::1", port: 4524 });
      const flag = ["--flocker-control-service=[fd00::2]:1"];
      expect(parse(flag, env).flocker).to.deep.equal({ host: "fd00::2", port: 1 });
      for (const text of ["", "host", "host:", "host:65536", ":1"])
        expect(() => parse([`--flocker-control-service=${text}`]), text).to.throw(ConfigError, "is not HOST:PORT");
    });

    it("removes nothing that kubelet has left unless it is told after which time, and that is long", () => {
      const ms = (...flags: string[]) => parse(flags).reapOrphansGracePeriodMs;
      const flag = (text: string) => `--reap-orphans-grace-period=${text}`;
      expect([ms(), ms(flag("0")), ms(flag("0s"))]).to.deep.equal([0, 0, 0]);
      expect([ms(flag("10m")), ms(flag("600s")), ms(flag("1h30m0s"))]).to.deep.equal([600_000, 600_000, 5_400_000]);
      expect(parse([], { NODEVOLUME_REAP_ORPHANS_GRACE_PERIOD: "1h" }).reapOrphansGracePeriodMs).to.equal(3_600_000);
      for (const text of ["", "9m59s", "1", "-1h", "10", "1d", "true", "1.5h", "0h"])
        expect(() => ms(flag(text)), text).to.throw(ConfigError, "--reap-orphans-grace-period");
    });

    it("serves pods unless it is told otherwise", () => {
      expect(parse().pods).to.equal(true);
      expect(parse(["--pods=false"]).pods).to.equal(false);
      expect(parse([], { NODEVOLUME_PODS: "false" }).pods).to.equal(false);
      expect(() => parse(["--pods=no"])).to.throw(ConfigError, "--pods");
    });
  });

  describe("api-proxy", () => {
    const parse = (flags: string[] = [], env = {}) => {
      const config = parseConfig(["api-proxy", ...access, "--node-name", "n", ...flags], env);
      if (config.role !== "api-proxy") throw new Error("another role");
      return config;
    };

    it("listens beside the agent, and serves the agent's metrics only if it is told where they are", () => {
      expect(parse()).to.deep.include({ socket: "/run/nodevolume/api/api.sock", agentMetrics: undefined });
      expect(parse(["--socket=/a/b"]).socket).to.equal("/a/b");
      expect(parse([], { NODEVOLUME_AGENT_METRICS: "127.0.0.1:9819" }).agentMetrics).to.deep.equal({
        host: "127.0.0.1",
        port: 9819,
      });
      expect(() => parse(["--agent-metrics=9819"])).to.throw(ConfigError, "--agent-metrics");
      expect(() => parse(["--socket=api.sock"])).to.throw(ConfigError, "--socket");
      expect(() => parse([`--socket=/${"a".repeat(107)}`])).to.throw(ConfigError, "longer than 107 bytes");
    });

    it("needs its node", () => {
      expect(() => parseConfig(["api-proxy", ...access], {})).to.throw(ConfigError, "--node-name");
    });

    it("is asked by an agent through a socket whose path the kernel takes", () => {
      const agent = (server: string) => parseConfig(["agent", "--api-server", server, "--node-name", "n"], {});
      expect(agent("unix:///run/api.sock").api.server).to.equal("unix:///run/api.sock");
      for (const server of ["unix://api.sock", "unix:///a/../b", `unix:///${"a".repeat(107)}`])
        expect(() => agent(server), server).to.throw(ConfigError, "--api-server");
    });
  });
});
