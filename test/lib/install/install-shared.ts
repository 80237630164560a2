import { InstallWorld } from "./install-world.ts";

let shared: Promise<InstallWorld> | undefined;
const built = new Map<string, Promise<void>>();

/**
 * The lane's cluster with nothing of the project's in it, started for whoever asks first. If a suite left the project
 * installed, because one of its tests failed, its cluster ends and the next suite gets another one.
 */
export async function sharedInstallWorld(context: Mocha.Context): Promise<InstallWorld> {
  context.timeout(20 * 60_000); // a tool may have to be built, once
  if (shared !== undefined && (await isInstalled(await shared))) await end();
  shared ??= InstallWorld.start(context).catch((error: unknown) => {
    shared = undefined; // skipped: the next suite skips for itself
    throw error;
  });
  return shared;
}

/** Builds a version's image once for the whole lane. */
export async function buildOnce(world: InstallWorld, version: string): Promise<void> {
  const building = built.get(version) ?? world.build(version);
  built.set(version, building);
  await building;
}

async function isInstalled(world: InstallWorld): Promise<boolean> {
  const { stdout } = await world.admin.try(["get", "namespaces,crds", "-o", "name"]);
  return /nodevolume/.test(stdout);
}

async function end(): Promise<void> {
  const ending = await shared;
  shared = undefined;
  built.clear();
  await ending?.[Symbol.asyncDispose]();
}

// Of the whole lane: cgroups do not end with the sandbox.
after(async function () {
  this.timeout(120_000);
  await end();
});
