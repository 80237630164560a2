/** The REST API of the control service of Flocker, as this node reaches it. */
export interface FlockerService {
  /** For people: `host:port`. */
  readonly name: string;
  /**
   * @param path beneath /v1/
   * @returns the answer's JSON
   * @throws VolumeError ServerUnreachable, DriverFailed, DriverReplyInvalid
   */
  get(path: string): Promise<unknown>;
  /** The same with a body. It may have been done where it rejects. */
  post(path: string, body: object): Promise<unknown>;
  /** Addresses of this node, by one of which the control service knows it. */
  addresses(): readonly string[];
}

/** Where the control service is. Certificates are the node's: /etc/flocker/{cluster.crt,apiuser.crt,apiuser.key}. */
export interface FlockerPlace {
  readonly host: string;
  readonly port: number;
}

/** kubelet's, where neither environment nor flags name another. */
export const defaultFlocker: FlockerPlace = { host: "localhost", port: 4523 };
