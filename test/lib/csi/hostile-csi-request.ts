import { NodePublishVolumeRequest, NodeUnpublishVolumeRequest } from "../../../src/csi/gen/csi.gen.ts";
import type { SeededRandom } from "../../sim/random.ts";
import { kubeletDir, podUID, publishRequest, targetPath } from "../../unit/csi/server/requests.ts";
import { mutatedBytes } from "../mutate/mutated-bytes.ts";

/** A call over kubelet's socket. */
export interface HostileCall {
  /** As HTTP/2 names a method. */
  readonly method: string;
  readonly message: Buffer;
}

const pieces = [
  ...[
    "..",
    ".",
    "/",
    "//",
    "../..",
    "../../../../../../etc",
    "/etc",
    "\0",
    "\n",
    "%2e%2e",
    "\\",
    " ",
    "~",
    "\u202e",
    "é",
    "\ud83d\ude00",
  ],
  ...[
    "mount",
    "pods",
    "volumes",
    "kubernetes.io~csi",
    "kubernetes.io~secret",
    podUID,
    kubeletDir,
    "plugins",
    "a".repeat(300),
  ],
];
const others = [
  ...["/etc/passwd", "/", "", "relative", kubeletDir, `${kubeletDir}/pods`, `${kubeletDir}-other/pods`, "/proc/1/root"],
  `${kubeletDir}/pods/${podUID}/volumes/kubernetes.io~csi/../../../x/mount`,
  `${kubeletDir}/pods/../../../etc/volumes/kubernetes.io~csi/data/mount`,
  `${kubeletDir}/pods/${podUID}/volumes/kubernetes.io~csi/data/mount/../../../../../../etc`,
  `${kubeletDir}/pods/${podUID}/volumes/kubernetes.io~csi/data/globalmount`,
  `${kubeletDir}/pods/${podUID}/volumes/kubernetes.io~csi/data/mount/`,
  `/${targetPath}`,
  "/".repeat(4_096),
];
const keys = ["set", "persistentVolumeClaim", "subPath", "readOnly", "readonly", "__proto__", "constructor", ""];
const values = [
  "datasets",
  "team-b/claim",
  "true",
  "TRUE",
  "",
  "a/b",
  "../x",
  "/abs",
  "a//b",
  "a/../b",
  "a/.",
  "x".repeat(600),
];
const info = ["pod.uid", "pod.namespace", "pod.name", "ephemeral", "serviceAccount.name", "serviceAccount.tokens"];
const methods = [
  ...["NodePublishVolume", "NodeUnpublishVolume", "NodeStageVolume", "NodeUnstageVolume", "NodeExpandVolume"],
  ...["NodeGetVolumeStats", "NodeGetInfo", "NodeGetCapabilities", "../NodePublishVolume", "nodePublishVolume", ""],
].map((name) => `/csi.v1.Node/${name}`);
const elsewhere = [
  "/csi.v1.Identity/Probe",
  "/csi.v1.Controller/DeleteVolume",
  "/pluginregistration.Registration/GetInfo",
  "/",
];

/**
 * PURE. What somebody may send who has kubelet's socket: a call of CSI with paths and attributes that are to lead
 * elsewhere.
 */
export function hostileCall(random: SeededRandom): HostileCall {
  const isPublish = random.chance(0.7);
  const target = hostilePath(random);
  const encoded = isPublish ? publish(target, random) : unpublish(target);
  const message = random.chance(0.25) ? mutatedBytes(encoded, [encoded, unpublish(targetPath)], random) : encoded;
  const usual = `/csi.v1.Node/${isPublish ? "NodePublishVolume" : "NodeUnpublishVolume"}`;
  const method = random.chance(0.9) ? usual : random.pick([...methods, ...elsewhere]);
  return { method, message };
}

function publish(target: string, random: SeededRandom): Buffer {
  const context = new Map(publishRequest().volumeContext);
  for (let left = random.below(3); left > 0; left--) {
    const key = random.chance(0.6) ? random.pick(keys) : `csi.storage.k8s.io/${random.pick(info)}`;
    if (random.chance(0.2)) context.delete(key);
    else context.set(key, random.chance(0.7) ? random.pick(values) : spliced(random.pick(values), random));
  }
  const capabilities = [
    { mount: { mountFlags: ["suid", "dev"] } },
    { mount: { fsType: "ext4" } },
    { mount: { volumeMountGroup: "0" } },
    { block: {} },
    {},
  ];
  const none = random.chance(0.02) && { volumeCapability: undefined };
  const request = publishRequest({
    targetPath: target,
    volumeContext: context,
    readonly: random.chance(0.2),
    ...(random.chance(0.1) && { stagingTargetPath: hostilePath(random) }),
    ...(random.chance(0.1) && { volumeId: random.pick(["", "../../x", "a".repeat(5_000)]) }),
    ...(random.chance(0.1) && { secrets: new Map([[random.pick(keys), random.pick(values)]]) }),
  });
  const changed = random.chance(0.1)
    ? NodePublishVolumeRequest.fromPartial({
        ...request,
        volumeCapability: random.pick(capabilities),
        ...none,
      } as object)
    : request;
  return Buffer.from(NodePublishVolumeRequest.encode(changed).finish());
}

function unpublish(target: string): Buffer {
  const request = NodeUnpublishVolumeRequest.fromPartial({ volumeId: "csi-3d2a", targetPath: target });
  return Buffer.from(NodeUnpublishVolumeRequest.encode(request).finish());
}

function hostilePath(random: SeededRandom): string {
  if (random.chance(0.25)) return targetPath;
  if (random.chance(0.3)) return random.pick(others);
  let path = targetPath;
  for (let left = 1 + random.below(3); left > 0; left--) path = spliced(path, random);
  return path;
}

/** A piece in place of a stretch, or of a segment. */
function spliced(text: string, random: SeededRandom): string {
  if (random.chance(0.5)) {
    const segments = text.split("/");
    return segments.with(random.below(segments.length), random.pick(pieces)).join("/");
  }
  const at = random.below(text.length + 1);
  return text.slice(0, at) + random.pick(pieces) + text.slice(Math.min(text.length, at + random.below(20)));
}
