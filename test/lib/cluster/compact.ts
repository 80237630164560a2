import { request } from "node:http";
import { join } from "node:path";
import type { ControlPlane } from "../../../hack/lib/control-plane/start.ts";

/**
 * Has etcd forget everything but the present state, by its JSON gateway.
 * @param path a collection that can be listed
 */
export async function compact({ directory, admin }: ControlPlane, path: string): Promise<void> {
  const { body } = await admin.call("GET", `${path}?limit=1`);
  const revision = (body["metadata"] as { resourceVersion: string }).resourceVersion;
  await new Promise<void>((resolve, reject) => {
    const options = { socketPath: join(directory, "localhost:1"), path: "/v3/kv/compaction", method: "POST" };
    const asked = request(options, (answer) => {
      answer.resume();
      if (answer.statusCode === 200) answer.on("end", () => resolve());
      else reject(new Error(`compaction: ${answer.statusCode}`));
    });
    asked.on("error", reject).end(JSON.stringify({ revision, physical: true }));
  });
}
