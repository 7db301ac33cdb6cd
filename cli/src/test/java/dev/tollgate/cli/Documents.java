package dev.tollgate.cli;

/** Documents as the APIs send them. */
public final class Documents {
  public static final String ACME =
      "{\"tenantId\":\"acme\",\"tier\":\"gold\",\"status\":\"ACTIVE\",\"version\":3,"
          + "\"overrides\":{\"tenantConnections\":10},"
          + "\"limits\":{\"tenantPerMinute\":180,\"sessionPerMinute\":30,"
          + "\"connectionsPerSession\":10,\"tenantConnections\":10,\"sessionTTL\":300,"
          + "\"messagesPerMinute\":6000,\"sessionLifetime\":86400,\"sessionsPerSubject\":10},"
          + "\"isolation\":\"SILO\",\"line\":true,\"connections\":4,"
          + "\"buckets\":[{\"action\":\"connect\",\"ratePerMinute\":180,\"capacity\":180,"
          + "\"level\":176,\"fillMode\":\"PRODUCER\",\"state\":\"ACTIVE\","
          + "\"nextTokenAt\":\"2026-03-01T10:00:19.000000001Z\","
          + "\"line\":{\"length\":12,\"waitSeconds\":26}},"
          + "{\"action\":\"send-email\",\"ratePerMinute\":0.2,\"capacity\":5,"
          + "\"level\":0,\"fillMode\":\"PRODUCER\",\"state\":\"ACTIVE\",\"later\":{\"field\":1}}]}";

  /** {@link #ACME} with full buckets and without members that are unknown. */
  public static final String FULL_ACME =
      ACME.replace("\"level\":176", "\"level\":180")
          .replace("\"level\":0,", "\"level\":5,\"nextTokenAt\":\"2026-03-01T10:05:00Z\",")
          .replace(",\"later\":{\"field\":1}", "");

  public static final String BRONZE =
      "{\"tier\":\"bronze\",\"isolation\":\"POOL\",\"limits\":{\"tenantPerMinute\":60,"
          + "\"sessionPerMinute\":5,\"connectionsPerSession\":2,\"tenantConnections\":10,"
          + "\"sessionTTL\":200,\"messagesPerMinute\":60,\"sessionLifetime\":86400,\"sessionsPerSubject\":2},\"buckets\":{},"
          + "\"fillMode\":\"PRODUCER\",\"onUnavailable\":\"ADMIT\",\"line\":true,\"version\":1}";

  /** {@link #BRONZE} with all members. */
  public static final String FULL_BRONZE =
      BRONZE.replace("\"version\"", "\"hibernateAfterMinutes\":15,\"version\"");

  /** A dry run of {@link #BRONZE} with fewer connections, for one of its two tenants. */
  public static final String DRY_BRONZE =
      "{\"dryRun\":true,\"outcome\":\"CHANGED\",\"version\":1,\"tier\":\"bronze\","
          + "\"changes\":{\"limits\":{\"tenantConnections\":{\"from\":10,\"to\":5}},"
          + "\"buckets\":{\"to\":{\"capacity\":{\"from\":9}}}},"
          + "\"tenants\":[{\"tenantId\":\"acme\",\"version\":3,"
          + "\"changes\":{\"limits\":{\"tenantConnections\":{\"from\":10,\"to\":5}}},"
          + "\"consequences\":[{\"kind\":\"OVER_LIMIT\",\"limit\":\"tenantConnections\","
          + "\"value\":5,\"connections\":7,\"detail\":\"7 connections are open\"}]}],"
          + "\"totals\":{\"tenants\":2,\"changed\":1,\"overLimit\":1}}";

  /** A dry run of the offboarding of a tenant. */
  public static final String DRY_OFFBOARDING =
      "{\"dryRun\":true,\"outcome\":\"REMOVED\",\"version\":3,"
          + "\"tenants\":[{\"tenantId\":\"acme\",\"version\":3,"
          + "\"changes\":{\"tier\":{\"from\":\"gold\"},\"limits\":{\"sessionTTL\":{\"from\":10}}},"
          + "\"consequences\":[{\"kind\":\"DISCONNECTED\",\"connections\":7,"
          + "\"detail\":\"7 open connections close.\"},"
          + "{\"kind\":\"REMOVED\",\"buckets\":{\"connect\":5},\"isolation\":\"SILO\","
          + "\"detail\":\"These are removed: its sessions, bucket `connect` (level 5).\"}]}],"
          + "\"totals\":{\"tenants\":1,\"changed\":1,\"disconnected\":1,\"removed\":1}}";

  /** A dry run without changes. */
  public static final String DRY_NOTHING =
      "{\"dryRun\":true,\"outcome\":\"UNCHANGED\",\"version\":1,\"tier\":\"silver\",\"changes\":{},"
          + "\"tenants\":[],\"totals\":{\"tenants\":2,\"changed\":0,\"overLimit\":0}}";

  public static final String SESSION =
      "{\"tenantId\":\"acme\",\"sessionId\":\"3f2a\",\"expiresAt\":\"2026-03-01T10:05:00Z\","
          + "\"webSocketUrl\":\"%s/production\"}";

  public static final String FULL_SESSION =
      "{\"tenantId\":\"acme\",\"sessionId\":\"3f2a\",\"expiresAt\":\"2026-03-01T10:05:00Z\","
          + "\"limits\":{\"tenantPerMinute\":60,\"sessionPerMinute\":5,"
          + "\"connectionsPerSession\":2,\"tenantConnections\":10,\"sessionTTL\":200,"
          + "\"messagesPerMinute\":60,\"sessionLifetime\":86400,\"sessionsPerSubject\":2},\"connections\":1,\"tenantConnections\":7,"
          + "\"admission\":{\"admitted\":false,\"reason\":\"TENANT_RATE\",\"detail\":\"the tenant has no token\","
          + "\"ahead\":3,\"retryAfterSeconds\":12,\"nextAttemptAt\":\"2026-03-01T10:00:11.5Z\"}}";

  /** The answer to a heartbeat. */
  public static final String BAD_FRAME =
      "{\"type\":\"error\",\"code\":\"BAD_FRAME\",\"detail\":\"The frame was not understood.\"}";

  public static String problem(int status, String title, String detail) {
    return "{\"type\":\"about:blank\",\"title\":\"%s\",\"status\":%d,\"detail\":\"%s\"}"
        .formatted(title, status, detail);
  }

  private Documents() {}
}
