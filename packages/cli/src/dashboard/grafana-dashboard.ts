/**
 * A Grafana dashboard over the metrics that every operator has, under the names that existing dashboards
 * know.
 */

interface Query {
  readonly expr: string;
  readonly legend: string;
}

interface Panel {
  readonly title: string;
  /** What the panel shows, for an engineer on call. */
  readonly description: string;
  readonly unit: string;
  readonly queries: readonly Query[];
}

interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}

const rate = (metric: string, by: string, filter = ""): string =>
  `sum by (${by}) (rate(${metric}{${selector}${filter}}[$__rate_interval]))`;
const quantile = (share: number, metric: string, by: string): string =>
  `histogram_quantile(${share}, ${rate(`${metric}_bucket`, `le, ${by}`)})`;
const most = (metric: string, by: string): string => `max by (${by}) (${metric}{${selector}})`;
const selector = 'job="$job"';

const rows: readonly Row[] = [
  {
    title: "Does it work?",
    panels: [
      panel("Reconciles", "By controller and result; errors are retried with back-off.", "ops", [
        [rate("controller_runtime_reconcile_total", "controller, result"), "{{controller}} {{result}}"],
      ]),
      panel(
        "Errors",
        "Terminal errors wait for a change of the object; timeouts are counted among the errors.",
        "ops",
        [
          [rate("controller_runtime_reconcile_errors_total", "controller"), "{{controller}}"],
          [rate("controller_runtime_terminal_reconcile_errors_total", "controller"), "{{controller}} terminal"],
          [rate("controller_runtime_reconcile_timeouts_total", "controller"), "{{controller}} timeout"],
        ],
      ),
      panel("Time of a reconcile", "p50 and p99.", "s", [
        [quantile(0.5, "controller_runtime_reconcile_time_seconds", "controller"), "{{controller}} p50"],
        [quantile(0.99, "controller_runtime_reconcile_time_seconds", "controller"), "{{controller}} p99"],
      ]),
      panel("Workers", "In use, of those that there are: at the limit for long means that more would help.", "short", [
        [most("controller_runtime_active_workers", "controller"), "{{controller}}"],
        [most("controller_runtime_max_concurrent_reconciles", "controller"), "{{controller}} limit"],
      ]),
    ],
  },
  {
    title: "What waits?",
    panels: [
      panel("Queue", "Keys that are ready, by priority.", "short", [
        [`sum by (name, priority) (workqueue_depth{${selector}})`, "{{name}} {{priority}}"],
      ]),
      panel("Waiting time", "How long a key is ready before it runs, p99.", "s", [
        [quantile(0.99, "workqueue_queue_duration_seconds", "name"), "{{name}}"],
      ]),
      panel(
        "Longest run",
        "The key that has been worked on for longest: a line that climbs is a reconcile that hangs.",
        "s",
        [
          [most("workqueue_longest_running_processor_seconds", "name"), "{{name}}"],
          [most("workqueue_unfinished_work_seconds", "name"), "{{name}} all"],
        ],
      ),
      panel("Adds and retries", "", "ops", [
        [rate("workqueue_adds_total", "name"), "{{name}} adds"],
        [rate("workqueue_retries_total", "name"), "{{name}} retries"],
      ]),
    ],
  },
  {
    title: "Is its view fresh?",
    panels: [
      panel(
        "Age of the caches",
        "Seconds since the server last said anything of a kind; bookmarks come once a minute.",
        "s",
        [[most("setpoint_cache_age_seconds", "kind"), "{{kind}}"]],
      ),
      panel("Lists and broken watches", "A list after the first is a watch that could not be resumed.", "ops", [
        [rate("setpoint_cache_lists_total", "kind"), "{{kind}} lists"],
        [rate("setpoint_watch_breaks_total", "kind"), "{{kind}} broken"],
        [rate("setpoint_watch_gaps_total", "kind"), "{{kind}} gaps"],
      ]),
      panel("Objects", "In the caches, by kind.", "short", [[most("setpoint_cache_objects", "kind"), "{{kind}}"]]),
      panel("Bytes", "What the caches hold, by kind.", "bytes", [[most("setpoint_cache_bytes", "kind"), "{{kind}}"]]),
    ],
  },
  {
    title: "What is held back?",
    panels: [
      panel("Protections", "Reconcile loops, conflicting field managers, budgets that are spent.", "ops", [
        [rate("setpoint_protections_total", "controller, reason"), "{{controller}} {{reason}}"],
        [rate("setpoint_write_budget_refusals_total", "controller"), "{{controller}} refused"],
      ]),
      panel("Paused and slowed objects", "", "short", [
        [most("setpoint_paused_objects", "controller"), "{{controller}} paused"],
        [most("setpoint_slowed_keys", "controller"), "{{controller}} slowed"],
      ]),
      panel("Leader", "One of the replicas has 1.", "short", [
        [`leader_election_master_status{${selector}}`, "{{instance}} {{name}}"],
      ]),
      panel("Requests", "To the API server, by code.", "ops", [
        [rate("rest_client_requests_total", "code, method"), "{{method}} {{code}}"],
      ]),
    ],
  },
  {
    title: "What does it cost?",
    panels: [
      panel("Processor", "", "short", [
        [`rate(process_cpu_seconds_total{${selector}}[$__rate_interval])`, "{{instance}}"],
      ]),
      panel("Memory", "Resident, and the part of it that is JavaScript's heap.", "bytes", [
        [`process_resident_memory_bytes{${selector}}`, "{{instance}}"],
        [`nodejs_heap_size_used_bytes{${selector}}`, "{{instance}} heap"],
      ]),
      panel("Pauses of the event loop", "The longest since the last look.", "s", [
        [`nodejs_eventloop_lag_max_seconds{${selector}}`, "{{instance}}"],
      ]),
    ],
  },
];

function panel(title: string, description: string, unit: string, queries: readonly [string, string][]): Panel {
  return { title, description, unit, queries: queries.map(([expr, legend]) => ({ expr, legend })) };
}

const panelWidth = 6;
const panelHeight = 7;
const rowHeight = 1;

/** As Grafana imports it; `job` is chosen in the dashboard, and is the operator's own by default. */
export function grafanaDashboard(operatorName: string): object {
  const title = `${operatorName} operator`;
  return {
    title,
    uid: `setpoint-${operatorName}`,
    tags: ["setpoint", "operator"],
    schemaVersion: 39,
    refresh: "30s",
    time: { from: "now-1h", to: "now" },
    templating: {
      list: [
        { name: "datasource", type: "datasource", query: "prometheus" },
        {
          name: "job",
          type: "query",
          datasource,
          query: { query: "label_values(controller_runtime_reconcile_total, job)", refId: "job" },
          current: { text: `${operatorName}-operator`, value: `${operatorName}-operator` },
          refresh: 2,
        },
      ],
    },
    panels: rows.flatMap(rowPanels),
  };
}

const datasource = { type: "prometheus", uid: "${datasource}" };

function rowPanels({ title, panels }: Row, index: number): readonly object[] {
  const y = index * (panelHeight + rowHeight);
  const id = index * 10 + 1;
  return [
    { id, type: "row", title, gridPos: { x: 0, y, w: 24, h: rowHeight }, collapsed: false, panels: [] },
    ...panels.map((each, column) => ({
      id: id + column + 1,
      type: "timeseries",
      title: each.title,
      description: each.description,
      datasource,
      gridPos: { x: column * panelWidth, y: y + rowHeight, w: panelWidth, h: panelHeight },
      fieldConfig: { defaults: { unit: each.unit, min: 0 }, overrides: [] },
      targets: each.queries.map(({ expr, legend }, query) => ({
        refId: `query${query}`,
        expr,
        legendFormat: legend,
        datasource,
      })),
    })),
  ];
}
