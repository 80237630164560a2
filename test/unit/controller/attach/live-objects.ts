import { silent } from "../../../../hack/lib/silent-log.ts";
import type { KubeObject } from "../../../../src/api/meta.ts";
import type { Resource } from "../../../../src/api/names.ts";
import { ApiError } from "../../../../src/kube/client/api-error.ts";
import type { KubeClient, ObjectRef } from "../../../../src/kube/client/client.ts";

export interface Written {
  readonly verb: "create" | "patch" | "delete";
  readonly of: string;
  readonly ref: ObjectRef;
  readonly patch?: object;
}

/** Objects as the server has them at this moment, which a cache may not show yet. */
export class LiveObjects {
  readonly written: Written[] = [];
  /** By plural and name. */
  readonly #objects = new Map<string, KubeObject>();
  /** How many of the next writes somebody else is faster than. */
  conflicts = 0;
  readonly log = silent;

  has(of: Resource, object: KubeObject): void {
    this.#objects.set(`${of.plural}/${object.metadata.name}`, object);
  }

  get client(): KubeClient {
    const find = (of: Resource, name: string) => this.#objects.get(`${of.plural}/${name}`);
    const write = (verb: Written["verb"], of: Resource, ref: ObjectRef, patch?: object) => {
      this.written.push({ verb, of: of.plural, ref, ...(patch && { patch }) });
      if (this.conflicts-- > 0) throw new ApiError(409, "Conflict", "somebody else wrote first");
      return find(of, ref.name);
    };
    const client = {
      get: async (of: Resource, { name }: ObjectRef) => find(of, name),
      list: async (of: Resource) => ({
        items: [...this.#objects].flatMap(([key, object]) => (key.startsWith(`${of.plural}/`) ? [object] : [])),
        resourceVersion: "1",
      }),
      create: async (of: Resource, object: KubeObject) => write("create", of, object.metadata, object) ?? object,
      mergePatch: async (of: Resource, ref: ObjectRef, patch: object) => write("patch", of, ref, patch),
      delete: async (of: Resource, ref: ObjectRef) => write("delete", of, ref),
    };
    return client as unknown as KubeClient;
  }
}
