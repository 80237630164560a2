import { NodePublishVolumeRequest } from "../../../../src/csi/gen/csi.gen.ts";

export const kubeletDir = "/var/lib/kubelet";
export const podUID = "4a3c3b8e-2c2b-4b86-a1a9-0f4f3a1c1f10";
export const targetPath = `${kubeletDir}/pods/${podUID}/volumes/kubernetes.io~csi/data/mount`;

/** What kubelet's csi plugin adds for a pod's inline volume. */
export const podInfo = {
  "csi.storage.k8s.io/pod.uid": podUID,
  "csi.storage.k8s.io/pod.namespace": "team-a",
  "csi.storage.k8s.io/pod.name": "web-0",
  "csi.storage.k8s.io/serviceAccount.name": "default",
  "csi.storage.k8s.io/ephemeral": "true",
};

export interface RequestChange extends Partial<NodePublishVolumeRequest> {
  readonly attributes?: { readonly [key: string]: string };
}

/** A request as kubelet 1.36 makes it for an inline volume. */
export function publishRequest({ attributes = { set: "datasets" }, ...more }: RequestChange = {}) {
  return NodePublishVolumeRequest.fromPartial({
    volumeId: "csi-3d2a",
    targetPath,
    volumeCapability: { mount: {}, accessMode: { mode: 1 } },
    volumeContext: new Map(Object.entries({ ...podInfo, ...attributes })),
    ...more,
  });
}
