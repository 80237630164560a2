import { VolumeError } from "../../../src/errors.ts";

/** What an operation of a volume fails with. @throws Error if it does not, or with another error */
export async function volumeFailure(operation: Promise<unknown>): Promise<VolumeError> {
  try {
    await operation;
  } catch (error) {
    if (error instanceof VolumeError) return error;
    throw error;
  }
  throw new Error("expected a VolumeError");
}
