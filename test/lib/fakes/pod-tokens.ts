/** A token as of the API server: a JWT that says which pod it is bound to. Nobody has signed it. */
export function tokenFor(podUID: string, signature: string): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  return [part({ alg: "RS256" }), part({ "kubernetes.io": { pod: { uid: podUID } } }), signature].join(".");
}

/** What kubelet hands over for a pod. @param signatures by audience: a text by which its token is known again */
export function tokensFor(
  podUID: string,
  signatures: { readonly [audience: string]: string },
  expirationTimestamp = "2100-01-01T00:00:00Z",
): string {
  const all = Object.entries(signatures).map(([audience, signature]) => {
    return [audience, { token: tokenFor(podUID, signature), expirationTimestamp }];
  });
  return JSON.stringify(Object.fromEntries(all));
}
