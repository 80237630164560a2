const groups: { [plural: string]: string } = {
  nodevolumesets: "/apis/nodevolume.dev/v1alpha1",
  nodevolumeintents: "/apis/nodevolume.dev/v1alpha1",
  nodevolumestates: "/apis/nodevolume.dev/v1alpha1",
  leases: "/apis/coordination.k8s.io/v1",
  nodes: "/api/v1",
  configmaps: "/api/v1",
  clustertrustbundles: "/apis/certificates.k8s.io/v1beta1",
  events: "/api/v1",
  secrets: "/api/v1",
  namespaces: "/api/v1",
  pods: "/api/v1",
  persistentvolumeclaims: "/api/v1",
  persistentvolumes: "/api/v1",
  volumeattachments: "/apis/storage.k8s.io/v1",
  csinodes: "/apis/storage.k8s.io/v1",
  csidrivers: "/apis/storage.k8s.io/v1",
  storageclasses: "/apis/storage.k8s.io/v1",
  validatingadmissionpolicies: "/apis/admissionregistration.k8s.io/v1",
  validatingadmissionpolicybindings: "/apis/admissionregistration.k8s.io/v1",
};

/** What a path of the API names. */
export function parsePath(path: string) {
  for (const [plural, root] of Object.entries(groups)) {
    const pattern = new RegExp(`^${root}(?:/namespaces/([^/]+))?/${plural}(?:/([^/]+))?(?:/(status))?$`);
    const match = pattern.exec(path);
    if (match !== null) return { plural, namespace: match[1], name: match[2], subresource: match[3] ?? "" };
  }
  throw new Error(`FakeApiServer does not know ${path}`);
}
