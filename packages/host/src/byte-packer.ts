/** Makes bytes that are kept for long and read seldom smaller. */
export interface BytePacker {
  pack(bytes: Uint8Array): Uint8Array;
  /** The bytes that were packed, `length` of them; they are the caller's. */
  unpack(packed: Uint8Array, length: number): Uint8Array;
}
