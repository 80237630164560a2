import type { ApiClient } from "../../../hack/lib/api-client.ts";
import { expectStatus, patch, paths } from "../cluster/policy-world.ts";

export type Fields = { readonly [key: string]: unknown };

export const ago = (seconds: number) => `${new Date(Date.now() - seconds * 1000).toISOString().slice(0, 19)}Z`;
export const setsPath = "/apis/nodevolume.dev/v1alpha1/nodevolumesets";
/** A custom resource must say what it is. */
const kinds: { readonly [path: string]: string } = {
  [setsPath]: "NodeVolumeSet",
  [paths.intents]: "NodeVolumeIntent",
  [paths.states]: "NodeVolumeState",
};

export const condition = (type: string, status: string, reason: string, message = "") => ({
  type,
  status,
  reason,
  message,
  observedGeneration: 1,
  lastTransitionTime: ago(240),
});

/** Makes an object, and writes its status as whoever would. */
export function posting(admin: ApiClient) {
  return async (path: string, body: Fields, status?: Fields) => {
    const kind = kinds[path];
    const typed = kind === undefined ? body : { apiVersion: "nodevolume.dev/v1alpha1", kind, ...body };
    const made = await admin.call("POST", path, { body: typed });
    expectStatus(201, made);
    const { name } = made.body["metadata"] as { name: string };
    if (status !== undefined) expectStatus(200, await patch(admin, `${path}/${name}/status`, { status }));
    return made.body["metadata"] as { name: string; uid: string; generation: number };
  };
}
