import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { loadAll } from "js-yaml";
import { root } from "../../hack/lib/root.ts";
import { locateTool } from "../../hack/lib/tools/locate.ts";
import { chartFiles, chartName } from "../../hack/release/chart/chart.ts";
import { chartComponents, someAudiences } from "../../hack/release/chart/components.ts";
import { kustomize, type OfDefault } from "../../hack/release/kustomize.ts";
import { agentPodIn, nestedIn, prefixesIn, settingsIn, unseenIn } from "../lib/cluster/agent-pod.ts";

const run = promisify(execFile);
const maxBuffer = 2 ** 26;

interface Titled {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

describe("the Helm chart", () => {
  let directory = "";
  let kubectl = "";
  let helm = "";
  /** config/default, as kustomize makes it. */
  let plain = "";
  before(async function () {
    this.timeout(20 * 60_000); // Helm may have to be built, once
    const options = { env: process.env, report: (line: string) => console.log(`  ${line}`) };
    [kubectl, helm] = [await locateTool("kubectl", options), await locateTool("helm", options)];
    plain = await kustomize(kubectl, {});
    directory = mkdtempSync(join(tmpdir(), "nodevolume-chart-"));
    for (const [path, content] of await chartFiles({ kubectl, version: "9.8.7" })) {
      mkdirSync(dirname(join(directory, chartName, path)), { recursive: true });
      writeFileSync(join(directory, chartName, path), content);
    }
  });
  after(() => rmSync(directory, { recursive: true, force: true }));

  async function template(values: object, more: readonly string[] = ["--include-crds"]): Promise<string> {
    const file = join(directory, "values.json");
    writeFileSync(file, JSON.stringify(values));
    const args = ["template", "release", join(directory, chartName), ...more, "--kube-version=1.36.3"];
    const env = { ...process.env, HELM_CACHE_HOME: directory, HELM_CONFIG_HOME: directory, HELM_DATA_HOME: directory };
    return (await run(helm, [...args, "-f", file], { env, maxBuffer })).stdout;
  }
  const refusal = (values: object) =>
    template(values).then(
      () => "none",
      (error: { stderr: string }) => error.stderr,
    );
  const same = (made: string, wanted: string) => {
    const [ofHelm, ofKustomize] = [byTitle(made), byTitle(wanted)];
    expect([...ofHelm.keys()].sort()).to.deep.equal([...ofKustomize.keys()].sort());
    for (const [title, object] of ofKustomize) expect(ofHelm.get(title), title).to.deep.equal(object);
  };

  it("makes of its own values what kustomize makes of config/default, object for object", async () => {
    same(await template({}), plain);
  });

  it("has no CRD among what Helm upgrades, and deletes with a release: with it every volume would go", async () => {
    const crds = (text: string) => text.split("kind: CustomResourceDefinition\n").length - 1;
    expect([crds(await template({}, [])), crds(await template({}))]).to.deep.equal([0, 3]);
  });

  /** What turns a component on, by its folder. */
  const values = (name: string) => {
    const [, value] = /^\.Values\.components\.(\w+)$/.exec(condition(name)) ?? [];
    return value === undefined ? { tokenRequests: someAudiences } : { components: { [value]: true } };
  };
  const condition = (name: string) => chartComponents.find((component) => component.name === name)?.condition ?? "";

  for (const { name, more } of chartComponents) {
    it(`makes what kustomize makes with the component ${name}`, async () => {
      const of: OfDefault = { components: [name], ...(more && { more }) };
      const wanted = await kustomize(kubectl, of);
      same(await template(values(name)), wanted);
      expect(wanted).not.to.equal(plain);
    });
  }

  it("makes what kustomize makes with all of them together", async () => {
    const names = chartComponents.map(({ name }) => name);
    const components = Object.assign({}, ...names.map((name) => values(name).components));
    const more = Object.assign({}, ...chartComponents.map((component) => component.more));
    same(
      await template({ components, tokenRequests: someAudiences }),
      await kustomize(kubectl, { components: names, more }),
    );
  });

  it("names settings by what is in them, as kustomize does, and names the images", async () => {
    const literals = ["NODEVOLUME_ALLOWED_PREFIXES=/srv/a", "NODEVOLUME_LOG_LEVEL=debug"];
    const name = "nodevolume-settings";
    const generator = { name, namespace: "nodevolume-system", behavior: "merge", literals };
    const images = ["controller", "agent"].map((name) => ({
      ...{ name: `node-volume-operator-${name}`, newName: `registry.example.com/${name}`, newTag: "7" },
    }));
    const wanted = byTitle(await kustomize(kubectl, { more: { configMapGenerator: [generator], images } }));
    const valuesOf = (name: string) => ({ image: { repository: `registry.example.com/${name}`, tag: "7" } });
    const of = { controller: valuesOf("controller"), agent: valuesOf("agent") };
    const made = byTitle(await template({ allowedPrefixes: ["/srv/a"], logLevel: "debug", ...of }));
    expect([...made.keys()].sort()).to.deep.equal([...wanted.keys()].sort());
    const controller = "Deployment nodevolume-system/nodevolume-controller";
    expect(made.get(controller)).to.deep.equal(wanted.get(controller));
    // Of the agent the prefixes differ: kustomize leaves its volumes as they are.
    const imagesIn = (objects: Map<string, object>) => {
      const agent = JSON.stringify(objects.get("DaemonSet nodevolume-system/nodevolume-agent"));
      return [...agent.matchAll(/"image":"([^"]+)"/g)].map(([, image]) => image).sort();
    };
    expect(imagesIn(made)).to.deep.equal(["registry.example.com/agent:7", "registry.example.com/controller:7"]);
    expect(imagesIn(wanted)).to.deep.equal(imagesIn(made));
  });

  it("makes of allowedPrefixes what kustomize makes with the component prefix-mnt", async () => {
    const allowedPrefixes = ["/mnt/nodevolume", "/var/lib/nodevolume/mounts"];
    same(await template({ allowedPrefixes }), await kustomize(kubectl, { components: ["prefix-mnt"] }));
  });

  const overlays: { readonly [overlay: string]: object } = {
    k0s: { kubeletDir: "/var/lib/k0s/kubelet", flexVolumeDir: "/usr/libexec/k0s/kubelet-plugins/volume/exec" },
    microk8s: { kubeletDir: "/var/snap/microk8s/common/var/lib/kubelet" },
    talos: {},
  };
  for (const [overlay, given] of Object.entries(overlays)) {
    it(`makes of ${JSON.stringify(given)} what kustomize makes of the overlay ${overlay}`, async () => {
      const { stdout } = await run(kubectl, ["kustomize", join(root, "config/overlays", overlay)], { maxBuffer });
      same(await template(given), stdout);
    });
  }

  it("has nothing that helm lint complains about", async () => {
    const { stdout } = await run(helm, ["lint", "--strict", join(directory, chartName)]);
    expect(stdout).to.include("1 chart(s) linted, 0 chart(s) failed");
  });

  it("gives every allowed prefix a volume, and nests none in another", async () => {
    const allowedPrefixes = ["/srv/a/b", "/srv/a", "/srv/ab", "/var/lib/nodevolume/mounts", "/srv/a"];
    const made = await template({ allowedPrefixes, kubeletDir: "/data/kubelet", flexVolumeDir: "/opt/flex" });
    const pod = agentPodIn(made);
    expect(prefixesIn(made)).to.deep.equal(allowedPrefixes);
    expect([nestedIn(pod), unseenIn(pod, allowedPrefixes)]).to.deep.equal([[], []]);
    const paths = pod.volumes.flatMap(({ hostPath }) => hostPath?.path ?? []);
    const kubelets = ["plugins/nodevolume.dev", "plugins_registry", "pods"].map((path) => `/data/kubelet/${path}`);
    expect(paths).to.deep.equal(["/var/lib/nodevolume", "/", ...kubelets, "/srv/a", "/srv/ab"]);
    expect(settingsIn(made)).to.include({
      NODEVOLUME_KUBELET_DIR: "/data/kubelet",
      NODEVOLUME_FLEX_VOLUME_DIR: "/opt/flex",
    });
  });

  const refused: readonly [values: object, words: string][] = [
    [{ allowedPrefixes: ["/var/lib"] }, "allowedPrefixes: /var/lib has"],
    [{ allowedPrefixes: ["/var/lib/kubelet/pods/x"] }, "which is kubelet's"],
    [{ allowedPrefixes: ["mnt"] }, "allowedPrefixes"],
    [{ allowedPrefixes: ["/mnt/../etc"] }, "allowedPrefixes"],
    [{ allowedPrefixes: [] }, "allowedPrefixes"],
    [{ kubeletDir: "var/lib/kubelet" }, "kubeletDir"],
    [{ kubeletDir: "/data/kubelet/" }, "kubeletDir"],
    [{ controller: { replicas: 0 } }, "replicas"],
    [{ agent: { tolerations: "all" } }, "tolerations"],
    [{ agent: { resources: [] } }, "resources"],
    [{ agent: { maxUnavailable: "all" } }, "maxUnavailable"],
    [{ components: { monitoring: "yes" } }, "monitoring"],
    [{ componets: { index: true } }, "componets"],
    [{ components: { indx: true } }, "indx"],
  ];
  for (const [given, words] of refused) {
    it(`refuses ${JSON.stringify(given)}`, async () => {
      expect(await refusal(given)).to.include(words);
    });
  }
});

/** Objects by kind, namespace and name. */
function byTitle(text: string): Map<string, object> {
  const objects = (loadAll(text) as (Titled | null)[]).filter((object) => object !== null);
  return new Map(
    objects.map((object) => [`${object.kind} ${object.metadata.namespace ?? ""}/${object.metadata.name}`, object]),
  );
}
