/**
 * The fields of all receivers: their names in the configuration of Alertmanager, and what they hold. The
 * schema of the kind, the configuration, and the keys of Secrets follow from it.
 */

/** `on` is a flag that is written only when it is set, `always` one that is written in any case. */
export type FieldType =
  | "text"
  | "flag"
  | "on"
  | "always"
  | "number"
  | "duration"
  | "url"
  | "templateUrl"
  | "secret"
  | "secretUrl"
  | "http"
  | "tls"
  | "pairs"
  | "texts"
  | "map"
  | "sigv4"
  | "threading";

/** The fields of items of a list, or of one object. */
export interface Nested {
  readonly fields: FieldTable;
  readonly isList: boolean;
  /** What an item has that the kind has no field for. */
  readonly fixed?: Readonly<Record<string, boolean>>;
}

export type FieldTable = Readonly<Record<string, readonly [key: string, type: FieldType | Nested]>>;

const list = (fields: FieldTable, fixed?: Nested["fixed"]): Nested => ({
  fields,
  isList: true,
  ...(fixed === undefined ? {} : { fixed }),
});
const object = (fields: FieldTable): Nested => ({ fields, isList: false });

const common: FieldTable = { sendResolved: ["send_resolved", "flag"], httpConfig: ["http_config", "http"] };

const slackAction = list({
  type: ["type", "text"],
  text: ["text", "text"],
  url: ["url", "text"],
  style: ["style", "text"],
  name: ["name", "text"],
  value: ["value", "text"],
  confirm: [
    "confirm",
    object({
      text: ["text", "text"],
      title: ["title", "text"],
      okText: ["ok_text", "text"],
      dismissText: ["dismiss_text", "text"],
    }),
  ],
});

/** By the names of the lists in a receiver; the second name is that in the configuration. */
export const receiverTable = {
  opsgenieConfigs: [
    "opsgenie_configs",
    {
      ...common,
      apiKey: ["api_key", "secret"],
      apiURL: ["api_url", "url"],
      message: ["message", "text"],
      description: ["description", "text"],
      source: ["source", "text"],
      tags: ["tags", "text"],
      note: ["note", "text"],
      priority: ["priority", "text"],
      updateAlerts: ["update_alerts", "flag"],
      details: ["details", "pairs"],
      responders: [
        "responders",
        list({ id: ["id", "text"], name: ["name", "text"], username: ["username", "text"], type: ["type", "text"] }),
      ],
      entity: ["entity", "text"],
      actions: ["actions", "text"],
    },
  ],
  pagerdutyConfigs: [
    "pagerduty_configs",
    {
      ...common,
      routingKey: ["routing_key", "secret"],
      serviceKey: ["service_key", "secret"],
      url: ["url", "url"],
      client: ["client", "text"],
      clientURL: ["client_url", "templateUrl"],
      description: ["description", "text"],
      severity: ["severity", "text"],
      class: ["class", "text"],
      group: ["group", "text"],
      component: ["component", "text"],
      details: ["details", "pairs"],
      pagerDutyImageConfigs: [
        "images",
        list({ src: ["src", "text"], href: ["href", "templateUrl"], alt: ["alt", "text"] }),
      ],
      pagerDutyLinkConfigs: ["links", list({ href: ["href", "templateUrl"], alt: ["text", "text"] })],
      source: ["source", "text"],
      timeout: ["timeout", "duration"],
    },
  ],
  discordConfigs: [
    "discord_configs",
    {
      ...common,
      apiURL: ["webhook_url", "secretUrl"],
      title: ["title", "text"],
      message: ["message", "text"],
      content: ["content", "text"],
      username: ["username", "text"],
      avatarURL: ["avatar_url", "text"],
    },
  ],
  slackConfigs: [
    "slack_configs",
    {
      ...common,
      apiURL: ["api_url", "secretUrl"],
      channel: ["channel", "text"],
      username: ["username", "text"],
      color: ["color", "text"],
      title: ["title", "text"],
      titleLink: ["title_link", "text"],
      pretext: ["pretext", "text"],
      text: ["text", "text"],
      fields: ["fields", list({ title: ["title", "text"], value: ["value", "text"], short: ["short", "on"] })],
      shortFields: ["short_fields", "on"],
      footer: ["footer", "text"],
      fallback: ["fallback", "text"],
      callbackId: ["callback_id", "text"],
      iconEmoji: ["icon_emoji", "text"],
      iconURL: ["icon_url", "text"],
      imageURL: ["image_url", "text"],
      thumbURL: ["thumb_url", "text"],
      linkNames: ["link_names", "on"],
      mrkdwnIn: ["mrkdwn_in", "texts"],
      actions: ["actions", slackAction],
      timeout: ["timeout", "duration"],
      messageText: ["message_text", "text"],
      updateMessage: ["update_message", "flag"],
    },
  ],
  webhookConfigs: [
    "webhook_configs",
    {
      ...common,
      url: ["url", "templateUrl"],
      urlSecret: ["url", "secret"],
      maxAlerts: ["max_alerts", "number"],
      timeout: ["timeout", "duration"],
      payload: ["payload", "text"],
    },
  ],
  wechatConfigs: [
    "wechat_configs",
    {
      ...common,
      apiSecret: ["api_secret", "secret"],
      apiURL: ["api_url", "url"],
      corpID: ["corp_id", "text"],
      agentID: ["agent_id", "text"],
      toUser: ["to_user", "text"],
      toParty: ["to_party", "text"],
      toTag: ["to_tag", "text"],
      message: ["message", "text"],
      messageType: ["message_type", "text"],
    },
  ],
  emailConfigs: [
    "email_configs",
    {
      sendResolved: ["send_resolved", "flag"],
      to: ["to", "text"],
      from: ["from", "text"],
      hello: ["hello", "text"],
      smarthost: ["smarthost", "text"],
      authUsername: ["auth_username", "text"],
      authPassword: ["auth_password", "secret"],
      authSecret: ["auth_secret", "secret"],
      authIdentity: ["auth_identity", "text"],
      headers: ["headers", "pairs"],
      html: ["html", "text"],
      text: ["text", "text"],
      requireTLS: ["require_tls", "flag"],
      tlsConfig: ["tls_config", "tls"],
      forceImplicitTLS: ["force_implicit_tls", "flag"],
      threading: ["threading", "threading"],
    },
  ],
  victoropsConfigs: [
    "victorops_configs",
    {
      ...common,
      apiKey: ["api_key", "secret"],
      apiUrl: ["api_url", "url"],
      routingKey: ["routing_key", "text"],
      messageType: ["message_type", "text"],
      entityDisplayName: ["entity_display_name", "text"],
      stateMessage: ["state_message", "text"],
      monitoringTool: ["monitoring_tool", "text"],
      customFields: ["custom_fields", "pairs"],
    },
  ],
  pushoverConfigs: [
    "pushover_configs",
    {
      ...common,
      userKey: ["user_key", "secret"],
      token: ["token", "secret"],
      title: ["title", "text"],
      message: ["message", "text"],
      url: ["url", "templateUrl"],
      urlTitle: ["url_title", "text"],
      ttl: ["ttl", "text"],
      device: ["device", "text"],
      priority: ["priority", "text"],
      retry: ["retry", "duration"],
      expire: ["expire", "duration"],
      html: ["html", "flag"],
      monospace: ["monospace", "flag"],
    },
  ],
  snsConfigs: [
    "sns_configs",
    {
      ...common,
      apiURL: ["api_url", "templateUrl"],
      sigv4: ["sigv4", "sigv4"],
      topicARN: ["topic_arn", "text"],
      subject: ["subject", "text"],
      phoneNumber: ["phone_number", "text"],
      targetARN: ["target_arn", "text"],
      message: ["message", "text"],
      attributes: ["attributes", "map"],
      useAWSHTTPClient: ["use_aws_http_client", "on"],
    },
  ],
  telegramConfigs: [
    "telegram_configs",
    {
      ...common,
      apiURL: ["api_url", "url"],
      botToken: ["bot_token", "secret"],
      botTokenFile: ["bot_token_file", "text"],
      chatID: ["chat_id", "number"],
      messageThreadID: ["message_thread_id", "number"],
      message: ["message", "text"],
      disableNotifications: ["disable_notifications", "on"],
      parseMode: ["parse_mode", "text"],
    },
  ],
  webexConfigs: [
    "webex_configs",
    { ...common, apiURL: ["api_url", "url"], message: ["message", "text"], roomID: ["room_id", "text"] },
  ],
  msteamsConfigs: [
    "msteams_configs",
    {
      ...common,
      webhookUrl: ["webhook_url", "secret"],
      title: ["title", "text"],
      summary: ["summary", "text"],
      text: ["text", "text"],
    },
  ],
  msteamsv2Configs: [
    "msteamsv2_configs",
    { ...common, webhookURL: ["webhook_url", "secret"], title: ["title", "text"], text: ["text", "text"] },
  ],
  rocketchatConfigs: [
    "rocketchat_configs",
    {
      ...common,
      apiURL: ["api_url", "url"],
      channel: ["channel", "text"],
      token: ["token", "secret"],
      tokenID: ["token_id", "secret"],
      color: ["color", "text"],
      emoji: ["emoji", "text"],
      iconURL: ["icon_url", "templateUrl"],
      text: ["text", "text"],
      title: ["title", "text"],
      titleLink: ["title_link", "text"],
      fields: ["fields", list({ title: ["title", "text"], value: ["value", "text"], short: ["short", "flag"] })],
      shortFields: ["short_fields", "always"],
      imageURL: ["image_url", "templateUrl"],
      thumbURL: ["thumb_url", "templateUrl"],
      linkNames: ["link_names", "always"],
      actions: [
        "actions",
        list(
          { text: ["text", "text"], url: ["url", "templateUrl"], msg: ["msg", "text"] },
          { is_webview: false, msg_in_chat_window: false },
        ),
      ],
    },
  ],
} as const satisfies Readonly<Record<string, readonly [section: string, fields: FieldTable]>>;

export type ReceiverListName = keyof typeof receiverTable;
export const receiverLists: readonly (readonly [ReceiverListName, string, FieldTable])[] = Object.entries(
  receiverTable,
).map(([name, [section, fields]]) => [name as ReceiverListName, section, fields]);

/** Settings of all receivers; those in groups are in the list below. */
export const globalTable: FieldTable = {
  resolveTimeout: ["resolve_timeout", "duration"],
  httpConfig: ["http_config", "http"],
  slackApiUrl: ["slack_api_url", "secretUrl"],
  opsGenieApiUrl: ["opsgenie_api_url", "secretUrl"],
  opsGenieApiKey: ["opsgenie_api_key", "secret"],
  pagerdutyUrl: ["pagerduty_url", "text"],
};

/** With the version of Alertmanager that a group needs. */
export const globalGroups: Readonly<Record<string, readonly [minimum: string, fields: FieldTable]>> = {
  smtp: [
    "0.15.0",
    {
      from: ["smtp_from", "text"],
      hello: ["smtp_hello", "text"],
      authUsername: ["smtp_auth_username", "text"],
      authPassword: ["smtp_auth_password", "secret"],
      authIdentity: ["smtp_auth_identity", "text"],
      authSecret: ["smtp_auth_secret", "secret"],
      requireTLS: ["smtp_require_tls", "flag"],
      tlsConfig: ["smtp_tls_config", "tls"],
      forceImplicitTLS: ["smtp_force_implicit_tls", "flag"],
    },
  ],
  telegram: ["0.24.0", { apiURL: ["telegram_api_url", "url"] }],
  jira: ["0.28.0", { apiURL: ["jira_api_url", "url"] }],
  victorops: ["0.15.0", { apiURL: ["victorops_api_url", "url"], apiKey: ["victorops_api_key", "secret"] }],
  rocketChat: [
    "0.28.0",
    {
      apiURL: ["rocketchat_api_url", "url"],
      token: ["rocketchat_token", "secret"],
      tokenID: ["rocketchat_token_id", "secret"],
    },
  ],
  webex: ["0.25.0", { apiURL: ["webex_api_url", "url"] }],
  wechat: [
    "0.15.0",
    {
      apiURL: ["wechat_api_url", "url"],
      apiSecret: ["wechat_api_secret", "secret"],
      apiCorpID: ["wechat_api_corp_id", "text"],
    },
  ],
  mattermost: ["0.32.0", { webhookURL: ["mattermost_webhook_url", "secretUrl"] }],
};
