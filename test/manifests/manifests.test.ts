import { execFileSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { loadAll } from "js-yaml";
import type { JsonObject } from "../../hack/lib/api-client.ts";
import { root } from "../../hack/lib/root.ts";
import { type TestCluster, testCluster } from "../lib/cluster/cluster.ts";

const render = ["kustomize"];

describe("manifests", () => {
  let cluster: TestCluster;
  before(async function () {
    cluster = await testCluster(this);
  });

  it("config/default renders, and the API server takes every object of it", async () => {
    const rendered = await cluster.kubectl.run([...render, join(root, "config/default")]);
    const kinds = (loadAll(rendered) as { kind: string }[]).map((object) => object.kind);
    expect(kinds).to.include.members([
      "CSIDriver",
      "CustomResourceDefinition",
      "DaemonSet",
      "Deployment",
      "FlowSchema",
      "Namespace",
    ]);
    const applied = await cluster.adminKubectl.run(
      ["apply", "--server-side", "--validate=strict", "-f", "-"],
      rendered,
    );
    expect(applied.trim().split("\n")).to.have.length(kinds.length);
  });

  it("config/default applied twice writes nothing the second time", async () => {
    const apply = async () => {
      const args = ["apply", "--server-side", "-k", join(root, "config/default"), "-o", "json"];
      return versions(await cluster.adminKubectl.run(args));
    };
    const first = await apply();
    expect(Object.keys(first).length).to.be.greaterThan(25);
    expect(await apply()).to.deep.equal(first);
  });

  for (const path of globSync("config/samples/**/*.yaml", { cwd: root }).sort()) {
    if (path.endsWith("kustomization.yaml")) continue;
    it(`${path} is accepted from a platform administrator`, async () => {
      const objects = (loadAll(readFileSync(join(root, path), "utf8")) as JsonObject[]).filter(
        (o) => o["kind"] === "NodeVolumeSet",
      );
      expect(objects).not.to.be.empty;
      for (const object of objects) {
        const args = ["create", "--dry-run=server", "--validate=strict", "-f", "-"];
        expect(await cluster.kubectl.run(args, JSON.stringify(object))).to.include("created");
      }
    });
  }

  it("install.yaml is config/default with the images that are named, and the API server takes all of it", async () => {
    const script = join(root, "hack/release/install-yaml.ts");
    const image = (name: string) => `registry.example.com:5000/${name}:9.9.9`;
    const images = ["controller", "agent"].flatMap((name) => ["--image", `${name}=${image(name)}`]);
    const args = [script, ...images, "--kubectl", cluster.kubectl.program];
    const yaml = execFileSync(process.execPath, args, { encoding: "utf8" });
    const plain = await cluster.kubectl.run([...render, join(root, "config/default")]);
    const wanted = plain.replaceAll(/node-volume-operator-(controller|agent):0\.1\.0/g, (_, name: string) =>
      image(name),
    );
    expect(loadAll(yaml)).to.deep.equal(loadAll(wanted));
    // The controller's is that of api-proxy, too.
    expect(["controller", "agent"].map((name) => yaml.split(`image: ${image(name)}`).length - 1)).to.deep.equal([2, 1]);
    const apply = ["apply", "--server-side", "--force-conflicts", "--dry-run=server", "--validate=strict", "-f", "-"];
    const applied = await cluster.adminKubectl.run(apply, yaml);
    expect(applied.trim().split("\n")).to.have.length(loadAll(yaml).length);
  });

  it("the controller comes to nodes that have the taint which only it takes off", async () => {
    type Workload = { kind: string; spec: { template: { spec: { tolerations?: object[] } } } };
    const rendered = loadAll(await cluster.kubectl.run([...render, join(root, "config/default")])) as Workload[];
    const deployment = rendered.find(({ kind }) => kind === "Deployment");
    const toleration = { key: "nodevolume.dev/not-ready", operator: "Exists", effect: "NoSchedule" };
    expect(deployment?.spec.template.spec.tolerations).to.deep.include(toleration);
  });

  it("config/samples and config/samples/quickstart render", async () => {
    for (const folder of ["config/samples", "config/samples/quickstart"]) {
      expect(await cluster.kubectl.run([...render, join(root, folder)])).to.include("kind: NodeVolumeSet");
    }
  });
});

describe("kubectl", () => {
  let cluster: TestCluster;
  const sample = join(root, "config/samples/empty-dir.yaml");
  before(async function () {
    cluster = await testCluster(this);
    await cluster.kubectl.run(["apply", "--server-side", "-f", sample]);
  });
  after(() => cluster?.kubectl.try(["delete", "-f", sample, "--wait=false"]));

  it("get nodevolumesets shows whether the set is Ready, why not, and its counts", async () => {
    const [header] = (await cluster.kubectl.run(["get", "nodevolumesets"])).split("\n");
    expect(header?.replace(/\s+/g, " ").trim()).to.equal("NAME READY STATUS DESIRED MOUNTED DRIFTED CONFLICT AGE");
  });

  it("apply of an unchanged set says so, also as kubectl does it by itself", async () => {
    const metadata = { name: "unchanged" };
    const mounts = [{ name: "host", path: "/mnt/nodevolume/unchanged" }];
    const spec = { nodeSelector: { no: "where" }, volume: { source: { emptyDir: {} } }, mounts };
    const set = JSON.stringify({ apiVersion: "nodevolume.dev/v1alpha1", kind: "NodeVolumeSet", metadata, spec });
    const apply = () => cluster.kubectl.run(["apply", "-f", "-"], set);
    expect(await apply()).to.equal("nodevolumeset.nodevolume.dev/unchanged created\n");
    expect(await apply()).to.equal("nodevolumeset.nodevolume.dev/unchanged unchanged\n");
    await cluster.kubectl.run(["delete", "nodevolumesets", "unchanged", "--wait=false"]);
  });

  const columns: readonly [string, string][] = [
    ["nvs", "nodevolumesets.nodevolume.dev"],
    ["nvi", "nodevolumeintents.nodevolume.dev"],
    ["nvstate", "nodevolumestates.nodevolume.dev"],
  ];
  for (const [short, resource] of columns) {
    it(`knows ${resource} as ${short}`, async () => {
      const explained = await cluster.kubectl.run(["explain", short]);
      expect(explained).to.include("GROUP:      nodevolume.dev");
      expect(await cluster.kubectl.run(["api-resources", "--api-group=nodevolume.dev", "-o", "name"])).to.include(
        resource,
      );
    });
  }

  it("refuses a set with a field that does not exist, naming it", async () => {
    const set = {
      apiVersion: "nodevolume.dev/v1alpha1",
      kind: "NodeVolumeSet",
      metadata: { name: "typo" },
      spec: { volume: { source: { emptyDir: {} } }, mount: [] },
    };
    const result = await cluster.kubectl.try(["create", "-f", "-"], JSON.stringify(set));
    expect(result.code).not.to.equal(0);
    expect(result.stderr).to.include('unknown field "spec.mount"');
  });

  const roles: readonly [role: string, verb: string, resource: string, answer: "yes" | "no"][] = [
    ["nodevolume-viewer", "list", "nodevolumesets", "yes"],
    ["nodevolume-viewer", "list", "nodevolumeintents", "no"],
    ["nodevolume-viewer", "get", "nodevolumeintents", "no"],
    ["nodevolume-intent-viewer", "list", "nodevolumeintents", "yes"],
    ["nodevolume-viewer", "create", "nodevolumesets", "no"],
    ["nodevolume-editor", "create", "nodevolumesets", "yes"],
    ["nodevolume-editor", "update", "nodevolumeintents", "no"],
    ["nodevolume-editor", "release", "nodevolumeintents", "no"],
    ["nodevolume-admin", "release", "nodevolumeintents", "yes"],
    ["nodevolume-admin", "write-any-node", "nodevolumeintents", "no"],
    ["nodevolume-admin", "delete", "nodevolumeintents", "no"],
  ];
  for (const [role, verb, resource, answer] of roles) {
    it(`${role} may ${answer === "yes" ? "" : "not "}${verb} ${resource}`, async () => {
      const rules = JSON.parse(await cluster.adminKubectl.run(["get", "clusterrole", role, "-o", "json"])) as {
        rules: { resources: string[]; verbs: string[] }[];
      };
      const allowed = rules.rules.some((rule) => rule.resources.includes(resource) && rule.verbs.includes(verb));
      expect(allowed ? "yes" : "no").to.equal(answer);
    });
  }
});

/** Resource versions by kind and name, from one object or a list of them. */
function versions(json: string): { [object: string]: string } {
  const list = JSON.parse(json) as { items: { kind: string; metadata: { name: string; resourceVersion: string } }[] };
  return Object.fromEntries(list.items.map((o) => [`${o.kind}/${o.metadata.name}`, o.metadata.resourceVersion]));
}
