import { VolumeError } from "../../errors.ts";
import type { MountCredentials } from "../../host/ports/host-ports.ts";
import { type ObjectContent, secretContent } from "../api/content.ts";
import { type StagingPlugin, sourceOf, type VolumeSpec } from "../api/volume-plugin.ts";
import { stageFilesystem } from "../staging.ts";

/**
 * A share of an SMB server, mounted once on the node by mount.cifs(8) in a disposable child, which gets the password in
 * its environment. kubelet has no such plugin; its users had flexvolume, or csi-driver-smb, whose Secrets have the same
 * keys.
 */
export const cifs: StagingPlugin = {
  type: "cifs",

  layout(spec) {
    const { readOnly = false, secretRef } = sourceOf(spec, "cifs");
    return {
      options: spec.mountOptions,
      readOnly,
      devices: false,
      filesystem: { types: ["cifs", "smb3"], source: shareOf(spec), own: false },
      ...(secretRef && { content: [secretContent(secretRef)], credentials: true }),
    };
  },

  async stage(spec, context) {
    const { readOnly = false, secretRef } = sourceOf(spec, "cifs");
    const credentials = secretRef && credentialsIn(context.content?.[0], `${secretRef.namespace}/${secretRef.name}`);
    const options = credentials === undefined ? [...spec.mountOptions, "guest"] : spec.mountOptions;
    const mount = { fsType: "cifs", source: shareOf(spec), options, ...(credentials && { credentials }) };
    return stageFilesystem(context, mount, readOnly);
  },
};

/** What mount.cifs takes: it would read a domain out of a name with a separator, and a password after a `%`. */
const shapes = {
  username: { pattern: /^[^\p{Cc},/\\%]{1,256}$/u, is: "a name of at most 256 characters without , / \\ %" },
  password: { pattern: /^[^\p{Cc}]{1,512}$/u, is: "one line of at most 512 characters" },
  domain: { pattern: /^[A-Za-z0-9][-A-Za-z0-9._]{0,254}$/, is: "letters, digits and - . _" },
};

/** PURE. @throws VolumeError KeyNotFound, which says which key is missing or not to be used, and never what is in it */
export function credentialsIn(content: ObjectContent | undefined, secret: string): MountCredentials {
  if (content === undefined) throw new Error("a volume with credentials is not staged before they are known");
  const get = (key: keyof typeof shapes) => {
    const value = content.data.get(key);
    if (value === undefined) return undefined;
    const text = Buffer.from(value).toString("utf8").replace(/\n$/, ""); // of a file that an editor has ended
    if (shapes[key].pattern.test(text)) return text;
    throw new VolumeError("KeyNotFound", "final", `the key ${key} of Secret ${secret} must be ${shapes[key].is}`);
  };
  const [username, password, domain] = [get("username"), get("password"), get("domain")];
  if (username === undefined || password === undefined) {
    const missing = username === undefined ? "username" : "password";
    throw new VolumeError("KeyNotFound", "final", `Secret ${secret} has no key ${missing}: add it`);
  }
  return { username, password, ...(domain !== undefined && { domain }) };
}

function shareOf(spec: VolumeSpec): string {
  const { server, share } = sourceOf(spec, "cifs");
  return `//${server}/${share}`;
}
