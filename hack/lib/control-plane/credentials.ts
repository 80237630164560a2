import { generateKeyPairSync, randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Of people who run the platform: they get the project's own roles and nothing else by default. */
export const platformAdmin = "platform-admin";

/** Somebody else with a token, as Kubernetes' own components are. */
export interface ClusterUser {
  readonly name: string;
  readonly groups?: readonly string[];
}

export interface Credentials {
  /** Of system:masters, for what makes the cluster; never for what runs in it. */
  readonly adminToken: string;
  readonly peopleToken: string;
  /** Of each further user, by name. */
  readonly tokens: ReadonlyMap<string, string>;
  readonly tokensFile: string;
  readonly keyFile: string;
  readonly publicKeyFile: string;
  /** The API server writes its serving certificate here, with the authority that signed it. */
  readonly certificates: string;
  readonly caFile: string;
}

/** Makes the secrets of one control plane beneath `directory`. */
export function makeCredentials(directory: string, further: readonly ClusterUser[] = []): Credentials {
  const certificates = join(directory, "pki");
  mkdirSync(certificates, { recursive: true, mode: 0o700 });
  const credentials: Credentials = {
    adminToken: randomBytes(24).toString("hex"),
    peopleToken: randomBytes(24).toString("hex"),
    tokens: new Map(further.map(({ name }) => [name, randomBytes(24).toString("hex")])),
    tokensFile: join(directory, "tokens.csv"),
    keyFile: join(directory, "service-accounts.key"),
    publicKeyFile: join(directory, "service-accounts.pub"),
    certificates,
    caFile: join(certificates, "apiserver.crt"),
  };
  const users = [
    `${credentials.adminToken},bootstrap-admin,bootstrap-admin,system:masters`,
    `${credentials.peopleToken},${platformAdmin},${platformAdmin}`,
    ...further.map(({ name, groups }) =>
      [credentials.tokens.get(name), name, name, ...(groups === undefined ? [] : [`"${groups.join(",")}"`])].join(","),
    ),
  ];
  secret(credentials.tokensFile, `${users.join("\n")}\n`);
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  secret(credentials.keyFile, privateKey.export({ type: "sec1", format: "pem" }));
  secret(credentials.publicKeyFile, publicKey.export({ type: "spki", format: "pem" }));
  return credentials;
}

/** Writes a kubeconfig for one user; the CA is inside, so that the file can be read from anywhere. */
export function writeKubeconfig(
  path: string,
  options: { server: string; ca: string; user: string; token: string },
): void {
  const config = {
    apiVersion: "v1",
    kind: "Config",
    "current-context": "nodevolume",
    clusters: [
      {
        name: "nodevolume",
        cluster: { server: options.server, "certificate-authority-data": Buffer.from(options.ca).toString("base64") },
      },
    ],
    users: [{ name: options.user, user: { token: options.token } }],
    contexts: [{ name: "nodevolume", context: { cluster: "nodevolume", user: options.user } }],
  };
  secret(path, JSON.stringify(config, undefined, 2));
}

function secret(path: string, content: string | Buffer): void {
  writeFileSync(path, content, { mode: 0o600 });
}
