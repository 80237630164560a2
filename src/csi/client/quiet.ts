import { logVerbosity, setLogger, setLogVerbosity } from "@grpc/grpc-js";

/**
 * The library's own log would have what drivers answer, word for word, secrets included, if somebody sets GRPC_TRACE.
 * Whether it writes is decided for the whole process.
 */
export function quiet(): void {
  const nothing = () => {};
  setLogVerbosity(logVerbosity.NONE);
  setLogger({ error: nothing, info: nothing, debug: nothing });
}
