import type { SeededRandom } from "../random.ts";
import type { CSIWorld } from "./csi-world.ts";

/** What happens to drivers and attachers in bad weather; nothing in a world without them. */
export function disturbancesOf(
  { drivers, attachers, kubeControllerManager }: CSIWorld,
  random: SeededRandom,
  after: (ms: number, action: () => void) => void,
): (() => void)[] {
  if (drivers.length === 0) return [];
  const driver = random.pick(drivers);
  return [
    () => {
      driver.stop(random.chance(0.5));
      after(random.between(100, 40_000), () => driver.start());
    },
    () => {
      driver.hang();
      after(random.between(1_000, 200_000), () => driver.letGo());
    },
    ...attachers.map((attacher) => () => attacher.kill()),
    ...(kubeControllerManager === undefined ? [] : [() => kubeControllerManager.kill()]),
  ];
}
