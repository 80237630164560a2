import { resource } from "../../api/names.ts";
import type { SecretReference } from "../../api/types.gen.ts";
import type { Secrets } from "../../csi/ports.ts";
import { messageOf, VolumeError } from "../../errors.ts";
import type { KubeClient } from "../../kube/client/client.ts";
import { stringsIn } from "../../kube/json.ts";
import { asAgentOrNode, isForbidden } from "../content/impersonate-node.ts";

/** Dependencies of reading Secrets of the node's volumes. They are read at each use and never cached. */
export interface SecretsDeps {
  readonly client: Pick<KubeClient, "get">;
  readonly nodeName: string;
}

/**
 * The values of a Secret, read right before they are used, so that one that was changed is never used old. They are
 * kept nowhere. Read as the agent, where an administrator has granted that; else as the agent's own node, which the API
 * server lets read the Secrets that a pod on it refers to, and no others (KEP-5284, on by default since Kubernetes
 * 1.36).
 * @throws VolumeError SecretNotFound, SecretAccessDenied, ContentUnknown
 */
export async function readSecret(
  { client, nodeName }: SecretsDeps,
  { namespace, name }: SecretReference,
): Promise<Secrets> {
  const on = { kind: "Secret", namespace, name };
  let found: unknown;
  try {
    found = await asAgentOrNode(nodeName, (options) => client.get(resource.secrets, { namespace, name }, options));
  } catch (error) {
    if (isForbidden(error)) {
      const message =
        `the agent may not read secrets in namespace ${namespace}, and no pod on this node refers to ${name}:` +
        " grant it there (config/components/object-access)";
      throw new VolumeError("SecretAccessDenied", "transient", message, { on });
    }
    const message = `Secret ${namespace}/${name} cannot be read: ${messageOf(error)}`;
    throw new VolumeError("ContentUnknown", "transient", message, { on, cause: error });
  }
  if (found === undefined) {
    const message = `there is no Secret ${name} in namespace ${namespace}, which the volume needs: create it`;
    throw new VolumeError("SecretNotFound", "transient", message, { on });
  }
  return new Map(stringsIn(found, "data").map(([key, value]) => [key, Buffer.from(value, "base64").toString("utf8")]));
}
