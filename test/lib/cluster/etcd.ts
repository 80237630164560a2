import { request } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { ControlPlane } from "../../../hack/lib/control-plane/start.ts";

/**
 * Has etcd forget everything but the present state.
 * @param path a collection that can be listed
 */
export async function compact(controlPlane: ControlPlane, path: string): Promise<void> {
  const { body } = await controlPlane.admin.call("GET", `${path}?limit=1`);
  const revision = (body["metadata"] as { resourceVersion: string }).resourceVersion;
  await ask(controlPlane, "compaction", { revision, physical: true });
}

/**
 * The custom resources of a kind as etcd has them, by name: in the version in which each was stored, which the API
 * server shows to nobody.
 * @param resource plural and group, as `nodevolumesets.example.com`
 */
export async function storedObjects(
  controlPlane: ControlPlane,
  resource: string,
): Promise<ReadonlyMap<string, { readonly apiVersion: string }>> {
  const [plural, group] = resource.split(/\.(.*)/);
  const prefix = `/registry/${group}/${plural}/`;
  const [key, range_end] = [prefix, prefix.replace(/\/$/, "0")].map((end) => Buffer.from(end).toString("base64"));
  const { kvs = [] } = (await ask(controlPlane, "range", { key, range_end })) as {
    kvs?: readonly { readonly key: string; readonly value: string }[];
  };
  const textOf = (encoded: string) => Buffer.from(encoded, "base64").toString();
  return new Map(kvs.map((kv) => [textOf(kv.key).slice(prefix.length), JSON.parse(textOf(kv.value))]));
}

/** @throws Error if etcd's JSON gateway answers anything but 200 */
async function ask({ directory }: ControlPlane, method: string, body: object): Promise<unknown> {
  const answer = await new Promise<string>((resolve, reject) => {
    const options = { socketPath: join(directory, "localhost:1"), path: `/v3/kv/${method}`, method: "POST" };
    const asked = request(options, (response) => {
      text(response).then((said) => {
        if (response.statusCode === 200) resolve(said);
        else reject(new Error(`${method}: ${response.statusCode} ${said}`));
      }, reject);
    });
    asked.on("error", reject).end(JSON.stringify(body));
  });
  return JSON.parse(answer);
}
