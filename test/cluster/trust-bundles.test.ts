import { execFileSync } from "node:child_process";
import { expect } from "chai";
import { trustBundleFlags } from "../../hack/lib/control-plane/flags.ts";
import { slowSuite } from "../../hack/lib/lanes/slow.ts";
import { certificatesOf } from "../../src/agent/content/certificates.ts";
import { need } from "../lib/asserts/requirements.ts";
import { testWorld, type World } from "../lib/cluster/world.ts";

const set = "trust-bundles";
const path = `/mnt/nodevolume/${set}`;
const signerName = "example.com/ca";
const label = "example.com/trusts";

slowSuite("ClusterTrustBundles of a real API server", function () {
  this.timeout(180_000);
  let world: World;
  let certificates: readonly string[];

  before(async function () {
    need(this, "openssl");
    world = await testWorld(this);
    await world.cluster.kubectl.run(["label", "node", world.nodes[0].name, `${label}=yes`]);
    certificates = ["one", "two", "three", "four"].map(certificate);
  });
  after(async () => {
    if (world === undefined) return;
    await using all = new AsyncDisposableStack(); // whatever fails, from the last to the first
    all.defer(() => restart());
    all.defer(() => world.remove(set));
  });

  async function restart(flags?: readonly string[]): Promise<void> {
    const { controlPlane } = world.cluster;
    await controlPlane.stopApiServer();
    await controlPlane.startApiServer(undefined, flags);
  }
  /** @param of numbers of the certificates that are in it */
  async function write(name: string, signer: string | undefined, labels: object, ...of: number[]): Promise<void> {
    const object = {
      apiVersion: "certificates.k8s.io/v1beta1",
      kind: "ClusterTrustBundle",
      metadata: { name, labels },
      spec: { ...(signer && { signerName: signer }), trustBundle: of.map((n) => certificates[n]).join("") },
    };
    const { adminKubectl } = world.cluster;
    await adminKubectl.run(["apply", "--server-side", "-f", "-"], JSON.stringify(object));
  }
  /** Of a file: numbers of the certificates that are in it. */
  async function shown(file: string): Promise<number[]> {
    const text = await world.nodes[0].host.run("cat", `${path}/${file}`);
    return certificatesOf(text)
      .map((one) => certificates.indexOf(one))
      .sort();
  }
  const waiting = () => world.objects.intentsOf(set)[0]?.status?.waiting;

  it("that it does not serve are waited for, and the wait says how to switch them on", async () => {
    const sources = [
      { clusterTrustBundle: { name: "plain", path: "plain.pem" } },
      { clusterTrustBundle: { signerName, labelSelector: { matchLabels: { live: "yes" } }, path: "signed.pem" } },
    ];
    await world.apply(set, {
      nodeSelector: { [label]: "yes" },
      volume: { source: { projected: { sources } } },
      mounts: [{ name: "host", path, readOnly: true }],
    });
    await world.objects.until("the wait", 60_000, () => waiting()?.reason === "TrustBundleNotFound");
    expect(waiting()?.message).to.match(/^the API server does not serve certificates\.k8s\.io\/v1beta1/);
  });

  it("are shown once it serves them: one by its name, and those of a signer that the labels select", async () => {
    await restart(trustBundleFlags);
    await write("plain", undefined, {}, 0);
    await write("example.com:ca:a", signerName, { live: "yes" }, 1, 2);
    await write("example.com:ca:b", signerName, { live: "yes" }, 2);
    await write("example.com:ca:old", signerName, { live: "no" }, 3);
    await write("example.org:ca:c", "example.org/ca", { live: "yes" }, 3);
    await world.objects.ready(set, 1, 120_000);
    expect([await shown("plain.pem"), await shown("signed.pem")]).to.deep.equal([[0], [1, 2]]);
  });

  it("change in the file within a second when they do", async () => {
    const took: number[] = [];
    const seen = async (file: string, wanted: string, change: () => Promise<void>) => {
      await change();
      const since = performance.now();
      await world.objects.until(wanted, 30_000, async () => `${await shown(file)}` === wanted);
      took.push(Math.round(performance.now() - since));
    };
    await seen("plain.pem", "1", () => write("plain", undefined, {}, 1));
    await seen("signed.pem", "1,2,3", () => write("example.com:ca:old", signerName, { live: "yes" }, 3));
    await seen("signed.pem", "2,3", () => write("example.com:ca:a", signerName, { live: "no" }, 1, 2));
    console.log(`      after ${took.join(", ")} ms`);
    // The machine may be busy for one of them.
    expect(Math.min(...took)).to.be.below(1_000);
  });
});

/** Of an authority that has signed itself, as the agent writes it. */
function certificate(name: string): string {
  const kind = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  const args = ["req", ...kind, "-keyout", "/dev/null", "-subj", `/CN=${name}`, "-days", "1"];
  const text = execFileSync("openssl", args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  const [one = ""] = certificatesOf(text);
  return one;
}
