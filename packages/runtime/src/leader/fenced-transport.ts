import type { Transport } from "@setpoint/apimachinery";

/** Lets writes pass only while `assertMayWrite` does not throw. */
export function fencedTransport(inner: Transport, assertMayWrite: () => void): Transport {
  const { sendRaw } = inner;
  return {
    // Only reads come as bytes.
    ...(sendRaw === undefined ? {} : { sendRaw: sendRaw.bind(inner) }),
    async send(request, signal) {
      if (request.method !== "GET" && request.method !== "HEAD") assertMayWrite();
      return inner.send(request, signal);
    },
  };
}
