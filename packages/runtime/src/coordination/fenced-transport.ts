import type { Transport } from "@setpoint/apimachinery";

/** Lets writes pass only while `assertMayWrite` does not throw. */
export function fencedTransport(inner: Transport, assertMayWrite: () => void): Transport {
  return {
    // Only reads come as bytes.
    ...(inner.sendRaw === undefined ? {} : { sendRaw: inner.sendRaw.bind(inner) }),
    send(request, signal) {
      if (request.method === "GET" || request.method === "HEAD") return inner.send(request, signal);
      try {
        assertMayWrite();
      } catch (error) {
        return Promise.reject(error);
      }
      return inner.send(request, signal);
    },
  };
}
