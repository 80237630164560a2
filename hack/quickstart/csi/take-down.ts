import { set } from "./show.ts";
import { inNamespace, patience, type Stage, tell, typed } from "./stage.ts";

/** Gives the claim back, and then deletes it; each time the kernel and the objects have to agree. */
export async function takeDown(stage: Stage): Promise<void> {
  await release(stage);
  await unprovision(stage);
}

async function release(stage: Stage): Promise<void> {
  const { chronicle, storage, screen, demo } = stage;
  chronicle.begin();
  await typed(stage, "delete", "nvs", set, "--timeout=60s");
  await chronicle.until("the claim to be free", patience, ({ claim, attachment }) => {
    const { labels = {} } = (claim?.["metadata"] ?? {}) as { labels?: object };
    return attachment === undefined && !("nodevolume.dev/held" in labels);
  });
  screen.note("targets first, then the stage, then the attachment:");
  tell(stage);
  for (const host of demo.hosts) {
    const left = (await host.mounts()).filter(
      (line) => line.includes("/var/lib/nodevolume/mounts/") || line.includes(" - xfs "),
    );
    if (left.length > 0) throw new Error(`still mounted on ${host.name} after the deletion:\n${left.join("\n")}`);
  }
  const loops = storage.loops();
  if (loops.length > 0) throw new Error(`still there after the deletion: ${loops.join(", ")}`);
  screen.note("and the kernel agrees: nothing is mounted, on any node, and the loop device is gone");
  await typed(stage, "get", "nvi,pvc,pv,volumeattachments", inNamespace, "--show-labels");
}

async function unprovision(stage: Stage): Promise<void> {
  const { chronicle, screen } = stage;
  const volume = chronicle.world().volume as { metadata: { name: string } } | undefined;
  await typed(stage, "delete", "pvc", set, inNamespace, "--timeout=60s");
  await chronicle.until("the claim to be gone", patience, ({ claim }) => claim === undefined);
  const name = volume?.metadata.name ?? "";
  await stage.demo.kubectl.run(["wait", "--for=delete", `persistentvolume/${name}`, "--timeout=60s"]);
  screen.note(`the driver has deleted the volume, and ${name} is gone`);
}
