// Gets the programs of others into the cache, if they are not there, and prints where they are:
//   node hack/tools.ts          etcd, kube-apiserver and kubectl; toxiproxy for tests of a bad network; helm and
//                              kube-score for tests of the manifests; with NODEVOLUME_ALL=1, which
//                              `npm test -- --all` sets, Argo CD's engine for slow tests
//   node hack/tools.ts --csi    what the tests of CSI need besides
//   node hack/tools.ts --e2e    what a real node needs besides
//   node hack/tools.ts --storage  what tests of local disks and of images need, and a machine may lack
//   node hack/tools.ts --arm64  an arm64 Node, and what runs it here
//   node hack/tools.ts --release  what looks at what a release has, and the oldest API server that it is for
//   node hack/tools.ts --bench  what the benchmark of large clusters needs besides
import { allVariable } from "./lib/lanes/lanes.ts";
import { locateArm64Node } from "./lib/tools/arm64-node.ts";
import { locateArm64VM } from "./lib/tools/arm64-vm.ts";
import { locateBuildah, locateImageTools } from "./lib/tools/buildah.ts";
import {
  locateBenchTools,
  locateCSITools,
  locateNodeTools,
  locateReleaseTools,
  locateTool,
  locateTools,
} from "./lib/tools/locate.ts";
import { locateStorage } from "./lib/tools/storage.ts";
import { locateXfsprogs } from "./lib/tools/xfsprogs.ts";

const options = { env: process.env, report: (line: string) => console.log(line) };
const csi = process.argv.slice(2).includes("--csi");
const storage = process.argv.slice(2).includes("--storage");
const arm64 = process.argv.slice(2).includes("--arm64");
const release = process.argv.slice(2).includes("--release");
const bench = process.argv.slice(2).includes("--bench");
const e2e = process.argv.slice(2).includes("--e2e");
const locateControlPlane = async () => ({
  ...(await locateTools(options)),
  "toxiproxy-server": await locateTool("toxiproxy-server", options),
  helm: await locateTool("helm", options),
  "kube-score": await locateTool("kube-score", options),
  ...(process.env[allVariable] && { gitops: await locateTool("gitops", options) }),
});
const ofOne = csi ? locateCSITools : bench ? locateBenchTools : e2e ? locateNodeTools : locateControlPlane;
const locate = release ? locateReleaseTools : ofOne;
// That they cannot be had fails nothing: tests that need them are skipped, and each skip says why.
const locateDisks = async () => {
  const found = { ...(await locateStorage(options)), buildah: await locateBuildah(options) };
  const texts = Object.entries(found).map(([name, one]) => [name, typeof one === "string" ? one : one.missing]);
  return Object.fromEntries(texts) as { readonly [name: string]: string };
};
const locateArm64 = async () => {
  const [node, vm] = [await locateArm64Node(options), await locateArm64VM(options)];
  const found = { node: typeof node === "string" ? node : node.missing };
  return { ...found, vm: "missing" in vm ? vm.missing : vm.kernel };
};
const tools: { readonly [name: string]: string } = await (storage
  ? locateDisks()
  : arm64
    ? locateArm64()
    : locate(options));
for (const [name, path] of Object.entries(tools)) console.log(`${name.padEnd(24)} ${path}`);
if (csi) {
  const xfsprogs = await locateXfsprogs(options);
  if ("missing" in xfsprogs) console.log(`mkfs.xfs                 ${xfsprogs.missing}`);
  else
    for (const path of [xfsprogs.mkfs, xfsprogs.growfs]) console.log(`${path.split("/").at(-1)?.padEnd(24)} ${path}`);
}
if (e2e) {
  const images = await locateImageTools(options);
  for (const [name, path] of Object.entries(images)) console.log(`${name.padEnd(24)} ${path}`);
}
