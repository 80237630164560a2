const block = /-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]*)-----END CERTIFICATE-----/g;

/**
 * PURE. The certificates of a trust bundle, each as a PEM block without headers or comments in its canonical form, so
 * that the same certificate is the same text (kubelet: pkg/kubelet/clustertrustbundle).
 */
export function certificatesOf(trustBundle: string): string[] {
  return [...trustBundle.matchAll(block)].map(([, body = ""]) => {
    const lines = body.replace(/\s/g, "").match(/.{1,64}/g) ?? [];
    return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
  });
}
