/** An effect on the host that fails: it did not happen, or nobody can tell. */
export interface HostFault {
  readonly happened: boolean;
  readonly error: Error;
}
