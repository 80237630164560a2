// The rounds: the two sides in turns, so that what else the machine does falls on both.
import { cpSync } from "node:fs";
import { join } from "node:path";
import { label } from "../../../src/api/names.ts";
import { messageOf } from "../../../src/errors.ts";
import { podImage } from "../../lib/kubelet-node/image.ts";
import { locateTools } from "../../lib/tools/locate.ts";
import { startWorld, type World } from "../lib/node-world.ts";
import type { OnceInput } from "../lib/once.ts";
import type { Result } from "../lib/result.ts";
import { meterNoise } from "../report/noise.ts";
import { type Row, rowsOf, type Sample } from "../report/row.ts";
import { measuresOf, sampleOf } from "./figures.ts";
import { clientOf, Kubelet, type KubeletOptions, nodeOf } from "./kubelet.ts";
import { claimSource, csiSource, Ours, type Source } from "./ours.ts";
import { driverName, makeClaims, makeVolumes } from "./storage.ts";

/** Volumes of ours, one after the other, for each of kubelet's, which takes seconds. */
const oneByOne = 5;

interface Table {
  readonly scenario: string;
  readonly many: boolean;
  readonly ours: Sample[];
  readonly kubelet: Sample[];
}

export async function runAttachLatency(input: OnceInput): Promise<Result> {
  const world = await startWorld(join(input.disk, "cluster"), input.report);
  try {
    return await measure(input, world);
  } finally {
    await world.node.stop();
    const { NODEVOLUME_BENCH_LOGS: keep } = process.env;
    if (keep) cpSync(join(input.disk, "cluster/logs"), keep, { recursive: true });
  }
}

async function measure(input: OnceInput, world: World): Promise<Result> {
  const { options, disk, report } = input;
  const many = options.quick ? 10 : 100;
  const claims = Array.from({ length: many }, (_, index) => `claim-${index}`);
  const stop = new AbortController();
  report(`making ${many} volumes and ${many} claims`);
  const volumes = claims.map((_, index) => `volume-${index}`);
  const handles = await makeVolumes(world.socket, volumes);
  await makeClaims(world.admin, claims);
  const reserved = claims.map((name) => `reserved-${name}`);
  await makeClaims(world.admin, reserved, { [label.reserved]: "true" });
  const ours = new Ours(world.admin);
  await ours.watch(stop.signal);
  const withoutClaim: Source[] = volumes.map((name, index) => ({
    name,
    source: csiSource(driverName, handles[index] ?? ""),
  }));
  const withClaim: Source[] = claims.map((name) => ({ name, source: claimSource(name) }));
  const withReserved: Source[] = reserved.map((name) => ({ name, source: claimSource(name) }));
  // Caches and compiled code are those of programs that have run a while.
  for (const one of withoutClaim.slice(0, 5)) await ours.comeAndGo([one]);

  const failures: string[] = [];
  const others = claims.map((name) => `kubelet-${name}`);
  const kubelet = await startKubelet(input, world, others, stop.signal);
  const single = {
    source: table("1 volume, source csi"),
    reserved: table("1 volume, a reserved claim"),
    claim: table("1 volume, a claim"),
  };
  const together = {
    source: table(`${many} volumes at once, source csi`, true),
    reserved: table(`${many} volumes at once, reserved claims`, true),
    claim: table(`${many} volumes at once, claims`, true),
  };
  const tables = [...Object.values(single), ...Object.values(together)];
  const noise = meterNoise(disk);
  const attempt = async (what: string, act: () => Promise<void>) => {
    noise.sample();
    report(what);
    try {
      await act();
    } catch (error) {
      // The others are worth having.
      failures.push(`${what}: ${messageOf(error)}`);
      report(`failed: ${messageOf(error)}`);
    }
  };
  const live = (into: Table, sources: readonly Source[]) => async () =>
    void into.ours.push(sampleOf(await ours.comeAndGo(sources)));
  const beside = (of: readonly Table[], wanted: readonly string[]) => async () => {
    const sample = await kubelet.comeAndGo(wanted);
    for (const one of of) one.kubelet.push(sample);
  };
  for (let round = 0; round < options.runs; round += 1) {
    const at = `round ${round + 1}/${options.runs}`;
    for (let one = 0; one < oneByOne; one += 1) {
      const index = (round * oneByOne + one) % many;
      await attempt(`${at}: source csi`, live(single.source, withoutClaim.slice(index, index + 1)));
      await attempt(`${at}: reserved claim`, live(single.reserved, withReserved.slice(index, index + 1)));
    }
    await attempt(`${at}: claim`, live(single.claim, withClaim.slice(round % many, (round % many) + 1)));
    await attempt(`${at}: kubelet`, beside(Object.values(single), others.slice(round % many, (round % many) + 1)));
  }
  await attempt(`${many} at once: source csi`, live(together.source, withoutClaim));
  await attempt(`${many} at once: reserved claims`, live(together.reserved, withReserved));
  await attempt(`${many} at once: claims`, live(together.claim, withClaim));
  await attempt(`${many} at once: kubelet`, beside(Object.values(together), others));
  noise.sample();
  const ended = noise.end();
  await kubelet.tidy(others).catch((error: unknown) => failures.push(`tidying up: ${messageOf(error)}`));
  stop.abort();
  return { noise: ended, failures, rows: tables.flatMap(rows) };
}

/** The node's own kubelet, or that of the cluster of KUBECONFIG. */
async function startKubelet(
  { disk, report }: OnceInput,
  world: World,
  claims: readonly string[],
  signal: AbortSignal,
): Promise<Kubelet> {
  const { KUBECONFIG: kubeconfig, IMAGE: image = "registry.k8s.io/pause:3.10.2" } = process.env;
  let options: KubeletOptions = { client: world.admin, node: world.node.name, image: podImage };
  if (kubeconfig) {
    const { kubectl } = await locateTools({ env: process.env, report });
    const client = await clientOf({ kubeconfig, kubectl, directory: disk });
    options = { client, node: await nodeOf(client), image };
  }
  const kubelet = await Kubelet.start(options, signal);
  await kubelet.prepare(claims);
  await kubelet.comeAndGo([]);
  return kubelet;
}

function table(scenario: string, many = false): Table {
  return { scenario, many, ours: [], kubelet: [] };
}

function rows({ scenario, many, ours, kubelet }: Table): Row[] {
  const of = { benchmark: "attach-latency", scenario, scope: "through API server and etcd" } as const;
  return rowsOf(of, measuresOf(many), { ours, kubelet });
}
