import { awaitReady } from "../await-ready.ts";
import { csiSampleFolder } from "../demo.ts";
import { showRepair } from "../repair.ts";
import { silent } from "../screen.ts";
import { inNamespace, patience, type Stage, tell, typed } from "./stage.ts";

export const set = "archive";
const [writable, readOnly] = ["/var/lib/nodevolume/mounts/archive/rw", "/var/lib/nodevolume/mounts/archive/ro"];

/** The life of the claim on its node, up to where it is given back. */
export async function showLife(stage: Stage): Promise<void> {
  await showSetUp(stage);
  await showTables(stage);
  await showMounts(stage);
  await showGrowth(stage);
  await breakAndRepair(stage);
}

async function showSetUp(stage: Stage): Promise<void> {
  const { demo, chronicle, screen, signal } = stage;
  screen.step(`kubectl apply -k ${csiSampleFolder}`);
  chronicle.begin();
  screen.block(await demo.kubectl.run(["apply", "--server-side", "-f", "-"], demo.sample));
  screen.step("waiting until the claim is mounted where the set says");
  await awaitReady(demo, [set], screen, signal);
  screen.step("what happened, since kubectl was started");
  tell(stage);
}

async function showTables(stage: Stage): Promise<void> {
  await typed(stage, "get", "nvs,nvi");
  await typed(stage, "get", "pvc,pv,volumeattachments", inNamespace, "--show-labels");
}

async function showMounts(stage: Stage): Promise<void> {
  const { demo, chronicle, screen } = stage;
  const [host] = demo.hosts;
  if (host === undefined) return;
  screen.step(`grep xfs /proc/self/mountinfo, on the host of ${host.name}`);
  screen.block(chronicle.world().mounts.join("\n"));
  const write = `echo hello > ${writable}/greeting`;
  screen.step(`${write}; cat ${readOnly}/greeting; echo no > ${readOnly}/greeting`);
  // The shell's complaint about the last one is what is to be seen.
  screen.block(
    await host.run("sh", "-c", `${write}; cat ${readOnly}/greeting; exec 2>&1; echo no > ${readOnly}/greeting || true`),
  );
}

async function showGrowth(stage: Stage): Promise<void> {
  const { demo, chronicle, screen } = stage;
  const [host] = demo.hosts;
  if (host === undefined) return;
  const df = async () => screen.block(await host.run("df", "-h", writable));
  screen.step(`df -h ${writable}`);
  await df();
  chronicle.begin();
  const size = "640Mi";
  const patch = JSON.stringify({ spec: { resources: { requests: { storage: size } } } });
  await typed(stage, "patch", "pvc", set, inNamespace, "--type=merge", `--patch=${patch}`);
  await chronicle.until(`the claim to have ${size}`, patience, ({ claim, bytes }) => {
    const capacity = (claim?.["status"] as { capacity?: { storage?: string } } | undefined)?.capacity?.storage;
    return capacity === size && (bytes ?? 0) > 500 * 2 ** 20;
  });
  screen.note("and, without an unmount:");
  tell(stage);
  screen.step(`df -h ${writable}`);
  await df();
}

async function breakAndRepair(stage: Stage): Promise<void> {
  const { demo, screen, signal } = stage;
  const [host] = demo.hosts;
  if (host === undefined) return;
  await showRepair(demo, host, writable, screen);
  screen.note(`and what was written is there: ${(await host.run("cat", `${writable}/greeting`)).trim()}`);
  await awaitReady(demo, [set], silent(screen), signal);
}
