/** A refusal of etcd, with its own words; any other error means that no member answers. */
export class EtcdRefusal extends Error {
  override readonly name = "EtcdRefusal";
}

export function refusal(message: string): EtcdRefusal {
  return new EtcdRefusal(message);
}
