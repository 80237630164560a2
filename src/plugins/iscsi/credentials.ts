import type { ISCSIVolumeSource } from "../../api/types.gen.ts";
import { VolumeError } from "../../errors.ts";
import type { ISCSICredentials } from "../../host/ports/iscsi.ts";
import type { ObjectContent } from "../api/content.ts";

/** What is used of the Secret, by what it is for. */
export interface Chap {
  readonly session?: ISCSICredentials;
  readonly discovery?: ISCSICredentials;
}

/** What open-iscsi takes: one line, without spaces at its ends, of at most 255 characters. */
const shape = /^[!-~]([ -~]{0,253}[!-~])?$/;

/** PURE. The keys are kubelet's and open-iscsi's. @throws VolumeError KeyNotFound, which never says what is in one */
export function chapOf(source: ISCSIVolumeSource, content: ObjectContent | undefined): Chap {
  const { chapAuthSession = false, chapAuthDiscovery = false, secretRef } = source;
  if (secretRef === undefined || !(chapAuthSession || chapAuthDiscovery)) return {};
  if (content === undefined) throw new Error("a volume with credentials is not staged before they are known");
  const secret = `${secretRef.namespace}/${secretRef.name}`;
  return {
    ...(chapAuthSession && { session: credentialsIn(content, "node.session.auth", secret) }),
    ...(chapAuthDiscovery && { discovery: credentialsIn(content, "discovery.sendtargets.auth", secret) }),
  };
}

function credentialsIn({ data }: ObjectContent, prefix: string, secret: string): ISCSICredentials {
  const get = (name: string) => {
    const value = data.get(`${prefix}.${name}`);
    if (value === undefined || value.length === 0) return undefined;
    const text = Buffer.from(value).toString("utf8").replace(/\n$/, ""); // of a file that an editor has ended
    if (shape.test(text)) return text;
    const message = `the key ${prefix}.${name} of Secret ${secret} must be one line of at most 255 printable ASCII characters`;
    throw new VolumeError("KeyNotFound", "final", message);
  };
  const both = (name: string, password: string) => {
    const [user, pass] = [get(name), get(password)];
    if (user !== undefined && pass !== undefined) return { username: user, password: pass };
    if (user === undefined && pass === undefined) return undefined;
    throw missing(user === undefined ? name : password);
  };
  const missing = (name: string) =>
    new VolumeError("KeyNotFound", "final", `Secret ${secret} has no key ${prefix}.${name}: add it`);
  const ours = both("username", "password");
  if (ours === undefined) throw missing("username");
  const theirs = both("username_in", "password_in");
  return { ...ours, ...(theirs && { in: theirs }) };
}
