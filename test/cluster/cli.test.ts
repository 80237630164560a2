import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { slow } from "../../hack/lib/lanes/slow.ts";
import { root } from "../../hack/lib/root.ts";
import { until } from "../../hack/lib/until.ts";
import type { CheckResult } from "../../src/cli/check/result.ts";
import { commands } from "../../src/cli/commands.ts";
import { stageInstallation } from "../lib/cli/check-world.ts";
import { condition, posting, setsPath } from "../lib/cli/cli-post.ts";
import { type CliResult, type CliWorld, cliWorld } from "../lib/cli/cli-world.ts";
import { prepare, startCluster, type TestCluster } from "../lib/cluster/cluster.ts";
import { patch, paths } from "../lib/cluster/policy-world.ts";
import { writeVariable } from "../unit/cli/golden.ts";

const path = join(root, "docs/kubectl-nvi.md");
const workers = ["worker-1", "worker-2", "worker-3", "worker-4"];
const csiNodes = "/apis/storage.k8s.io/v1/csinodes";
const ourDriver = (node: string) => [{ name: "csi.nodevolume.dev", nodeID: node, topologyKeys: [] }];

/** Lengths of time and of columns are not the same twice. */
function comparable(text: string): string {
  return text
    .replace(/\d{4}-\d\d-\d\dT[\d:]+Z/g, "TIME")
    .replace(/\b(\d+(d|h|ms|m|s))+\b/g, "T")
    .replace(/[ \n]+/g, " ")
    .trim();
}

function shown({ code, stdout, stderr }: CliResult): string {
  const end = (text: string) => (text === "" || text.endsWith("\n") ? text : `${text}\n`);
  return `${end(stdout)}${end(stderr)}${code === 0 ? "" : `(exit code ${code})\n`}`;
}

describe("kubectl nvi", () => {
  let cluster: TestCluster;
  let world: CliWorld;
  before(async function () {
    prepare(this);
    cluster = await startCluster();
    world = await cliWorld(cluster);
  });
  after(() => cluster?.controlPlane.stop());

  const stateOf = async (name: string) => (await cluster.admin.call("GET", `${paths.intents}/${name}`)).body;

  it("waits by the watch, and says why each time that changes", async () => {
    const set = "/apis/nodevolume.dev/v1alpha1/nodevolumesets/datasets";
    const before = (await cluster.admin.call("GET", set)).body["status"] as { conditions: object[] };
    const child = spawn("kubectl-nvi", ["wait", "datasets", "--timeout", "60s"], {
      env: { PATH: `${world.directory}/bin:${process.env["PATH"]}`, KUBECONFIG: join(world.directory, "reader") },
    });
    let out = "";
    let err = "";
    child.stdout.on("data", (chunk) => {
      out += chunk;
    });
    child.stderr.on("data", (chunk) => {
      err += chunk;
    });
    const ended = new Promise<number | null>((resolve) => child.on("exit", resolve));
    await until("the first reason", 20_000, () => err.includes("waiting: 1 of 3 nodes are ready"));
    await patch(cluster.admin, `${set}/status`, { status: { ready: 2, failing: null } });
    await until("the next reason", 20_000, () => err.includes("waiting: 2 of 3 nodes are ready, NodesNotReady\n"));
    const conditions = before.conditions.map((condition) => ({
      ...condition,
      status: "True",
      reason: "AllReady",
      message: "",
    }));
    await patch(cluster.admin, `${set}/status`, { status: { ready: 3, conditions } });
    expect(await ended).to.equal(0);
    expect(out).to.equal("nodevolumeset.nodevolume.dev/datasets ready\n");
    expect(err.trim().split("\n")).to.have.length(2);
    await patch(cluster.admin, `${set}/status`, { status: before });
  });

  it("shows changes with -w, and ends by Ctrl-C with 130 and nothing else", async () => {
    const child = spawn("kubectl-nvi", ["volumes", "worker-1", "-w"], {
      env: { PATH: `${world.directory}/bin:${process.env["PATH"]}`, KUBECONFIG: join(world.directory, "reader") },
    });
    let out = "";
    let err = "";
    child.stdout.on("data", (chunk) => {
      out += chunk;
    });
    child.stderr.on("data", (chunk) => {
      err += chunk;
    });
    const ended = new Promise<number | null>((resolve) => child.on("exit", resolve));
    await until("the table", 20_000, () => out.split("\n").length === 4);
    await patch(cluster.admin, `${paths.intents}/worker-1.scratch-9a8fb0fbcd/status`, {
      status: { readyMounts: 0 },
    });
    await until("the change", 20_000, () => /scratch +emptyDir +Manage +Mounted +True +0\/1/.test(out));
    await patch(cluster.admin, `${paths.intents}/worker-1.scratch-9a8fb0fbcd/status`, {
      status: { readyMounts: 1 },
    });
    await until("the change back", 20_000, () => out.split("\n").length === 6);
    child.kill("SIGINT");
    expect(await ended).to.equal(130);
    expect(err).to.equal("");
  });

  it("does not write with a reader's token, and nothing when it is refused", async () => {
    const name = "worker-3.cache-8e9f0a1b2c";
    const before = await stateOf(name);
    const refused = await world.sh("kubectl nvi release worker-3 cache --i-have-checked");
    expect(refused.code).to.equal(3);
    expect(refused.stderr).to.include("cannot patch resource");
    const wanted = await world.sh("kubectl nvi release worker-3 datasets --i-have-checked --kubeconfig admin");
    expect(wanted.code).to.equal(3);
    expect(wanted.stderr).to.include("still in use by a set");
    expect((await world.sh("kubectl nvi release worker-3 cache --kubeconfig admin")).code).to.equal(2);
    expect(await stateOf(name)).to.deep.equal(before);
  });

  it("answers a tenant as far as it may, and says what it may not", async () => {
    const pod = await world.sh("kubectl nvi explain pod/web-1 -n shop", "tenant");
    expect(pod.code).to.equal(0);
    expect(pod.stdout)
      .to.include("you may not read its NodeVolumeIntent")
      .and.include("you may not read")
      .and.include("nodevolumeintents");
    const volumes = await world.sh("kubectl nvi volumes", "tenant");
    expect(volumes).to.include({ code: 3, stdout: "" });
    expect(volumes.stderr).to.include("nvi-viewer");
  });

  it("says in one line that nobody has such a token, and that no server is there; a stack trace only with -v", async () => {
    const refused = await world.sh("kubectl nvi volumes", "nobody");
    expect(refused).to.deep.equal({
      code: 3,
      stdout: "",
      stderr:
        "error: the cluster does not accept the kubeconfig's credentials\n" +
        "→ Log in again, or name another --context. To check: kubectl auth whoami\n",
    });
    const file = readFileSync(join(world.directory, "reader"), "utf8").replace(/127\.0\.0\.1:\d+/, "127.0.0.1:1");
    writeFileSync(join(world.directory, "away"), file);
    const away = await world.sh("kubectl nvi volumes --kubeconfig away");
    expect(away.code).to.equal(3);
    expect(away.stderr).to.match(
      /^error: the cluster cannot be reached: .*ECONNREFUSED.*\n→ .*kubectl get --raw \/readyz.*\n$/,
    );
    expect((await world.sh("kubectl nvi volumes --kubeconfig away -v")).stderr).to.include("    at ");
  });

  it("explains and compares a set that no node has an intent of, by each name that kubectl gives it", async () => {
    const message = "/srv/outside is beneath no allowed prefix";
    const mounts = [{ name: "host", path: "/srv/outside" }];
    await posting(cluster.admin)(
      setsPath,
      { metadata: { name: "outside" }, spec: { volume: { source: { emptyDir: { medium: "Memory" } } }, mounts } },
      {
        observedGeneration: 1,
        desired: 1,
        failing: [{ node: "worker-4", reason: "PathNotAllowed", message }],
        conditions: [condition("Ready", "False", "NodesNotReady", `ready on 0 of 1 node; worker-4: ${message}`)],
      },
    );
    try {
      for (const word of ["outside", "set/outside", "nvs/outside", "nodevolumeset.nodevolume.dev/outside"]) {
        const explained = await world.sh(`kubectl nvi explain ${word}`);
        expect(explained.code, word).to.equal(0);
        expect(explained.stdout).to.match(/✗ on worker-4: .* beneath no allowed prefix \(PathNotAllowed/);
        const compared = await world.sh(`kubectl nvi diff ${word} --no-headers`);
        expect(compared.code, word).to.equal(1);
        expect(compared.stdout).to.match(/^worker-4 +outside +\/srv\/outside +Mounted +Absent +PathNotAllowed\n$/);
      }
      expect(await world.sh("kubectl nvi plan set/outside")).to.include({ code: 0, stdout: "" });
    } finally {
      await cluster.admin.call("DELETE", `${setsPath}/outside`);
    }
  });

  it("gives objects that kubectl takes, in JSON and YAML", async () => {
    for (const format of ["json", "yaml"]) {
      const line = `kubectl nvi volumes -o ${format} | kubectl apply --dry-run=client --validate=false -o name -f -`;
      const { stdout } = await world.sh(line);
      expect(stdout.split("\n").filter((name) => name.startsWith("nodevolumeintent")).length, format).to.equal(7);
    }
    const sets = await world.sh(
      "kubectl nvi export --node-file fstab | kubectl apply --dry-run=server -o name --kubeconfig admin -f -",
    );
    expect(sets).to.deep.equal({
      code: 0,
      stdout: ["mnt-scratch", "mnt-datasets", "mnt-share"]
        .map((name) => `nodevolumeset.nodevolume.dev/${name}\n`)
        .join(""),
      stderr: "",
    });
  });

  it("ends quietly when nobody reads on, and runs with the machine's own, older node", async () => {
    expect(await world.sh("kubectl-nvi volumes | head -1 >/dev/null; kubectl-nvi version")).to.include({
      code: 0,
      stderr: "",
    });
    const own = await world.sh(
      "PATH=/usr/local/bin:/usr/bin:/bin; node --version && node bin/kubectl-nvi volumes -o name | wc -l",
    );
    if (own.code === 0) expect(own.stdout).to.match(/^v\d+[^\n]*\n\s*7\n$/);
  });

  it("completes with names of the cluster", async () => {
    const { stdout } = await world.sh("kubectl-nvi __complete drained work");
    expect(stdout.split("\n")).to.include.members(["worker-1", "worker-2", "worker-3", ":4"]);
    for (const shell of ["bash", "zsh", "fish"]) {
      const script = await world.sh(`kubectl-nvi completion ${shell}`);
      expect(script).to.include({ code: 0, stderr: "" });
    }
    const line = `source <(kubectl-nvi completion bash); COMP_WORDS=(kubectl-nvi dra); COMP_CWORD=1; _kubectl_nvi; echo "$\{COMPREPLY[@]}"`;
    expect((await world.sh(`bash -c '${line}'`)).stdout).to.equal("drained\n");
  });

  describe("check", () => {
    let admin = "";
    before(() => {
      admin = `--kubeconfig ${join(cluster.directory, "bootstrap-admin.kubeconfig")} -o json`;
    });
    const results = ({ stdout }: CliResult) =>
      (JSON.parse(stdout) as { checks: readonly CheckResult[] }).checks.filter(({ result }) => result !== "Ok");

    it("has nothing against what is installed, by its CRDs, policies and gates, and before it", async () => {
      const staged = await stageInstallation(cluster.admin, workers);
      try {
        await patch(cluster.admin, `${paths.leases}/worker-3`, { spec: { leaseDurationSeconds: 7200 } });
        await patch(cluster.admin, `${csiNodes}/worker-3`, { spec: { drivers: ourDriver("worker-3") } });
        const after = await world.sh(`kubectl nvi check ${admin}`);
        expect(results(after), after.stdout + after.stderr).to.deep.equal([
          { check: "sets", result: "Limited", found: "1 of 2 are ready", remedy: "kubectl nvi diff" },
        ]);
        expect(after.code).to.equal(0);
        const pre = await world.sh(`kubectl nvi check --pre ${admin}`);
        expect(results(pre), pre.stdout + pre.stderr).to.deep.equal([]);
        expect(pre.code).to.equal(0);
      } finally {
        await patch(cluster.admin, `${paths.leases}/worker-3`, { spec: { leaseDurationSeconds: 180 } });
        await patch(cluster.admin, `${csiNodes}/worker-3`, { spec: { drivers: [] } });
        await staged.remove();
      }
    });

    slow("finds a binding that is gone, and CRDs of another version", async () => {
      const kubectl = cluster.adminKubectl;
      const states = "nodevolumestates.nodevolume.dev";
      // The API server builds its OpenAPI document anew in its own time.
      const found = async () => results(await world.sh(`kubectl nvi check ${admin}`));
      const field = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/omitted";
      try {
        await kubectl.run(["delete", "validatingadmissionpolicybinding", "nodevolume-probes"]);
        await kubectl.run(["patch", "crd", states, "--type=json", "-p", `[{"op":"remove","path":"${field}"}]`]);
        await until("both to be found", 60_000, async () => (await found()).some(({ check }) => check === "CRDs"));
        const all = await found();
        expect(all.find(({ check }) => check === "CRDs")?.found).to.include("without NodeVolumeState.spec.omitted");
        expect(all.find(({ check }) => check === "admission policies")).to.deep.include({
          result: "Failed",
          found: "there is no ValidatingAdmissionPolicyBinding nodevolume-probes",
        });
      } finally {
        for (const part of ["policy", "crd"])
          await kubectl.run(["apply", "--server-side", "--force-conflicts", "-k", join(root, "config", part)]);
        await until("none to be found", 60_000, async () => (await found()).every(({ check }) => check !== "CRDs"));
      }
    });

    it("says line by line what a tenant may not read", async () => {
      const { code, stdout, stderr } = await world.sh("kubectl nvi check", "tenant");
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: "" });
      expect(stdout).to.match(/^\? agents +not checked: you may not read pods$/m);
      expect(stdout).to.match(/\nNo problems found\. \d+ not checked\.\n$/);
      const pre = await world.sh("kubectl nvi check --pre", "tenant");
      expect(pre.code).to.equal(1);
      expect(pre.stdout).to.match(/^✗ your rights +\S+:tenant lacks \d+ rights .*: create configmaps /m);
    });
  });

  describe("docs/kubectl-nvi.md", () => {
    const text = readFileSync(path, "utf8");
    const lines = [...text.matchAll(/^\$ (.*)\n((?:(?!\$ |```).*\n)*)/gm)].map(([whole, line = "", output = ""]) => ({
      whole,
      line,
      output,
    }));

    for (const { whole, line, output } of lines) {
      it(`shows what comes of ${line}`, async () => {
        const isCheck = line.startsWith("kubectl nvi check");
        const staged = isCheck ? await stageInstallation(cluster.admin, workers, ["worker-3"]) : undefined;
        const now = shown(await world.sh(line).finally(() => staged?.remove()));
        if (process.env[writeVariable]) {
          writeFileSync(
            path,
            readFileSync(path, "utf8").replace(whole, () => `$ ${line}\n${now}`),
          );
          return;
        }
        expect(comparable(now)).to.equal(comparable(output));
      });
    }

    it("shows every command, and the release is written as it says", async () => {
      // ui goes on until it is ended: test/unit/cli/commands/ui.test.ts
      const others = ["help", "version", "completion", "ui"];
      for (const { name } of commands.filter(
        ({ hidden, name: called }) => hidden !== true && !others.includes(called),
      )) {
        expect(lines.map(({ line }) => line).join("\n"), name).to.include(`kubectl nvi ${name}`);
      }
      const { metadata } = (await stateOf("worker-3.cache-8e9f0a1b2c")) as {
        metadata: { annotations: { [key: string]: string } };
      };
      expect(metadata.annotations["nodevolume.dev/release"]).to.match(
        /^platform-admin: powered off, ticket 4711 \(\d{4}-/,
      );
    });
  });
});
