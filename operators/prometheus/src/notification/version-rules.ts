/** What of a configuration a version of Alertmanager knows, and what excludes one another; facts. */

/** By section: fields and the version that knows them first. Older ones never see them. */
export const fieldsSince: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  global: {
    smtp_tls_config: "0.28.0",
    slack_api_url_file: "0.22.0",
    slack_app_token: "0.30.0",
    slack_app_token_file: "0.30.0",
    slack_app_url: "0.30.0",
    opsgenie_api_key_file: "0.24.0",
    smtp_auth_password_file: "0.25.0",
    victorops_api_key_file: "0.25.0",
    wechat_api_secret_file: "0.31.0",
    telegram_bot_token: "0.31.0",
    telegram_bot_token_file: "0.31.0",
    smtp_auth_secret_file: "0.31.0",
    smtp_force_implicit_tls: "0.31.0",
    mattermost_webhook_url: "0.32.0",
    mattermost_webhook_url_file: "0.32.0",
  },
  email_configs: {
    auth_password_file: "0.25.0",
    force_implicit_tls: "0.31.0",
    auth_secret_file: "0.31.0",
    threading: "0.30.0",
  },
  opsgenie_configs: { actions: "0.24.0", entity: "0.24.0", update_alerts: "0.24.0", api_key_file: "0.24.0" },
  pagerduty_configs: { source: "0.25.0", routing_key_file: "0.25.0", service_key_file: "0.25.0", timeout: "0.30.0" },
  pushover_configs: { user_key_file: "0.26.0", token_file: "0.26.0", ttl: "0.27.0", device: "0.26.0" },
  slack_configs: {
    timeout: "0.30.0",
    app_token: "0.30.0",
    app_token_file: "0.30.0",
    app_url: "0.30.0",
    message_text: "0.31.0",
    update_message: "0.32.0",
    api_url_file: "0.22.0",
  },
  victorops_configs: { api_key_file: "0.25.0" },
  webhook_configs: { url_file: "0.26.0", timeout: "0.28.0", payload: "0.32.0" },
  msteams_configs: { summary: "0.27.0" },
  wechat_configs: { api_secret_file: "0.31.0" },
  sns_configs: { use_aws_http_client: "0.33.0" },
  telegram_configs: { chat_id_file: "0.31.0", bot_token_file: "0.26.0", message_thread_id: "0.26.0" },
  discord_configs: { content: "0.28.0", username: "0.28.0", avatar_url: "0.28.0" },
  jira_configs: { api_type: "0.29.0" },
  mattermost_configs: Object.fromEntries(
    [
      ...["fallback", "color", "pretext", "author_name", "author_link", "author_icon", "title", "title_link"],
      ...["thumb_url", "footer", "footer_icon", "image_url", "fields"],
    ].map((name) => [name, "0.32.0"]),
  ),
};

/** The version that knows a kind of receiver first; an older one would refuse the whole configuration. */
export const receiversSince: Readonly<Record<string, string>> = {
  telegram_configs: "0.24.0",
  discord_configs: "0.25.0",
  webex_configs: "0.25.0",
  msteams_configs: "0.26.0",
  msteamsv2_configs: "0.28.0",
  jira_configs: "0.28.0",
  rocketchat_configs: "0.28.0",
  incidentio_configs: "0.29.0",
  mattermost_configs: "0.30.0",
};

/** Of two fields, the first wins and the second is left out. */
export const winners: Readonly<Record<string, readonly (readonly [winner: string, loser: string])[]>> = {
  global: [
    ["slack_api_url", "slack_api_url_file"],
    ["slack_app_token", "slack_app_token_file"],
    ["smtp_auth_password", "smtp_auth_password_file"],
    ["victorops_api_key", "victorops_api_key_file"],
    ["wechat_api_secret", "wechat_api_secret_file"],
    ["telegram_bot_token", "telegram_bot_token_file"],
    ["smtp_auth_secret", "smtp_auth_secret_file"],
    ["mattermost_webhook_url", "mattermost_webhook_url_file"],
  ],
  email_configs: [
    ["auth_password", "auth_password_file"],
    ["auth_secret", "auth_secret_file"],
  ],
  opsgenie_configs: [["api_key", "api_key_file"]],
  pagerduty_configs: [
    ["service_key", "service_key_file"],
    ["routing_key", "routing_key_file"],
  ],
  pushover_configs: [
    ["user_key", "user_key_file"],
    ["token", "token_file"],
  ],
  slack_configs: [
    ["app_token", "app_token_file"],
    ["api_url", "api_url_file"],
  ],
  victorops_configs: [["api_key", "api_key_file"]],
  webhook_configs: [["url", "url_file"]],
  wechat_configs: [["api_secret", "api_secret_file"]],
  telegram_configs: [
    ["chat_id", "chat_id_file"],
    ["bot_token", "bot_token_file"],
  ],
  mattermost_configs: [["webhook_url", "webhook_url_file"]],
};

/** Fields of which a receiver may have one. */
export const atMostOne: Readonly<Record<string, readonly (readonly string[])[]>> = {
  msteamsv2_configs: [["webhook_url", "webhook_url_file"]],
  rocketchat_configs: [
    ["token", "token_file"],
    ["token_id", "token_id_file"],
  ],
  incidentio_configs: [
    ["url", "url_file"],
    ["alert_source_token", "alert_source_token_file"],
  ],
};

/** Fields of which a receiver needs one; with a version, only before it. */
export const oneOf: Readonly<
  Record<string, readonly { readonly names: readonly string[]; readonly before?: string }[]>
> = {
  pushover_configs: [{ names: ["user_key", "user_key_file"] }, { names: ["token", "token_file"] }],
  msteams_configs: [{ names: ["webhook_url"] }],
  msteamsv2_configs: [{ names: ["webhook_url", "webhook_url_file"] }],
  webex_configs: [{ names: ["room_id"] }],
  jira_configs: [{ names: ["project"] }, { names: ["issue_type"] }],
  telegram_configs: [
    { names: ["chat_id", "chat_id_file"] },
    { names: ["bot_token", "bot_token_file"], before: "0.31.0" },
  ],
  mattermost_configs: [{ names: ["webhook_url", "webhook_url_file"], before: "0.32.0" }],
  incidentio_configs: [{ names: ["url", "url_file"] }],
};

/** Addresses; `{{` makes a template of one that may be. */
export const addresses: Readonly<Record<string, readonly [name: string, mayBeTemplate: boolean]>> = {
  opsgenie_configs: ["api_url", false],
  victorops_configs: ["api_url", false],
  wechat_configs: ["api_url", false],
  telegram_configs: ["api_url", false],
  webex_configs: ["api_url", false],
  jira_configs: ["api_url", false],
  msteams_configs: ["webhook_url", false],
  msteamsv2_configs: ["webhook_url", false],
  incidentio_configs: ["url", false],
  webhook_configs: ["url", true],
  sns_configs: ["api_url", true],
  pushover_configs: ["url", true],
};
