import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Clock, Metrics } from "@setpoint/host";

const nanosecondsPerSecond = 1_000_000_000;

/**
 * Tells of the process itself, under the names that client libraries of Prometheus use; call the result to
 * end it.
 */
export function observeProcess(metrics: Metrics, clock: Clock): () => void {
  const startSeconds = clock.now() / 1_000 - process.uptime();
  const delays = monitorEventLoopDelay({ resolution: 10 });
  delays.enable();
  let cpuSeconds = 0;
  const stop = metrics.onExpose(() => {
    const set = (name: string, help: string, value: number): void => metrics.gauge(name, help).set(value);
    const { user, system } = process.cpuUsage();
    const nowSeconds = (user + system) / 1_000_000;
    metrics
      .counter("process_cpu_seconds_total", "Total user and system CPU time spent in seconds.")
      .add(nowSeconds - cpuSeconds);
    cpuSeconds = nowSeconds;
    const { rss, heapUsed, external } = process.memoryUsage();
    set("process_start_time_seconds", "Start time of the process since unix epoch in seconds.", startSeconds);
    set("process_resident_memory_bytes", "Resident memory size in bytes.", rss);
    set("nodejs_heap_size_used_bytes", "Process heap size used from Node.js in bytes.", heapUsed);
    set("nodejs_external_memory_bytes", "Node.js external memory size in bytes.", external);
    set(
      "nodejs_eventloop_lag_max_seconds",
      "The maximum recorded event loop delay.",
      delays.max / nanosecondsPerSecond,
    );
    set(
      "nodejs_eventloop_lag_p99_seconds",
      "The 99th percentile of the recorded event loop delays.",
      delays.percentile(99) / nanosecondsPerSecond,
    );
    delays.reset();
  });
  return () => {
    stop();
    delays.disable();
  };
}
