export { type LoopDevice, loopDevice } from "../../../../hack/lib/loop-device.ts";
