package dev.tollgate.local.endpoint;

import io.undertow.server.HttpHandler;
import io.undertow.server.HttpServerExchange;
import io.undertow.util.Headers;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;

/**
 * STS with one operation, {@code AssumeRole}: it issues credentials for a role and session tags
 * that expire.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html">AssumeRole</a>
 */
public final class SecurityTokens implements HttpHandler {
  private static final int MIN_SECONDS = 900;
  // With the credentials of another role, a role can be assumed for an hour at most.
  private static final int MAX_SECONDS = 3600;
  private static final int MAX_TAGS = 50;
  // Without a star, which would widen a policy that has the tag's value in a pattern.
  private static final Pattern TAG_VALUE = Pattern.compile("[\\p{L}\\p{Z}\\p{N}_.:/=+\\-@]{0,256}");

  private final AccessKeys accessKeys;
  private final InstantSource clock;
  private final Set<String> roleArns = ConcurrentHashMap.newKeySet();

  /** A service without roles. */
  public SecurityTokens(AccessKeys accessKeys, InstantSource clock) {
    this.accessKeys = accessKeys;
    this.clock = clock;
  }

  /** Adds a role. */
  public void addRole(String arn) {
    roleArns.add(arn);
  }

  /** Whether a role exists. */
  public boolean isRole(String arn) {
    return roleArns.contains(arn);
  }

  @Override
  public void handleRequest(HttpServerExchange exchange) {
    try {
      Call call = Call.of(exchange);
      switch (call.operation()) {
        case "AssumeRole" -> assumeRole(exchange, call);
        case "GetCallerIdentity" -> callerIdentity(exchange, call.principal());
        default ->
            throw new ApiException(
                400,
                "InvalidAction",
                "action: " + call.operation() + " (expected: AssumeRole or GetCallerIdentity)");
      }
    } catch (ApiException e) {
      // STS answers only in XML, even to a GET, whose action is in the query.
      e.sendXml(exchange);
    }
  }

  private static void callerIdentity(HttpServerExchange exchange, Principal caller) {
    String arn = caller.assumedRoleArn();
    answer(
        exchange,
        """
        <GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
          <GetCallerIdentityResult>
            <Arn>%s</Arn>
            <UserId>AROALOCAL:%s</UserId>
            <Account>%s</Account>
          </GetCallerIdentityResult>
          <ResponseMetadata>
            <RequestId>%s</RequestId>
          </ResponseMetadata>
        </GetCallerIdentityResponse>
        """
            .formatted(
                QueryProtocol.escape(arn),
                QueryProtocol.escape(arn.substring(arn.lastIndexOf('/') + 1)),
                arn.split(":", -1)[4],
                UUID.randomUUID()));
  }

  private static void answer(HttpServerExchange exchange, String xml) {
    exchange.getResponseHeaders().put(Headers.CONTENT_TYPE, "text/xml");
    exchange.getResponseSender().send(xml);
  }

  private void assumeRole(HttpServerExchange exchange, Call call) {
    Map<String, String> form = call.form();
    Principal caller = call.principal();
    String roleArn = form.getOrDefault("RoleArn", "");
    String session = form.getOrDefault("RoleSessionName", "");
    require(session.matches("[\\w+=,.@-]{2,64}"), "RoleSessionName: " + session);
    String duration = form.getOrDefault("DurationSeconds", "" + MAX_SECONDS);
    int seconds = duration.matches("\\d{1,9}") ? Integer.parseInt(duration) : 0;
    require(
        seconds >= MIN_SECONDS && seconds <= MAX_SECONDS,
        "DurationSeconds: %s (expected: %d to %d)".formatted(duration, MIN_SECONDS, MAX_SECONDS));
    Map<String, String> tags = tags(form);
    if (!roleArns.contains(roleArn)) {
      throw new ApiException(
          403,
          "AccessDenied",
          "User: %s is not authorized to perform: sts:AssumeRole on resource: %s"
              .formatted(caller.roleArn(), roleArn));
    }
    Instant now = clock.instant();
    accessKeys.forgetExpired(now.minus(Duration.ofHours(1)));
    Instant expiresAt = now.plusSeconds(seconds).truncatedTo(ChronoUnit.SECONDS);
    Principal assumed =
        new Principal(
            caller.name(), roleArn, tags, Optional.of(now.truncatedTo(ChronoUnit.SECONDS)));
    AccessKey key = accessKeys.issue(assumed, expiresAt);
    String assumedRole = Principal.of(session, roleArn).assumedRoleArn();
    answer(
        exchange,
        """
            <AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
              <AssumeRoleResult>
                <AssumedRoleUser>
                  <AssumedRoleId>AROALOCAL:%s</AssumedRoleId>
                  <Arn>%s</Arn>
                </AssumedRoleUser>
                <Credentials>
                  <AccessKeyId>%s</AccessKeyId>
                  <SecretAccessKey>%s</SecretAccessKey>
                  <SessionToken>%s</SessionToken>
                  <Expiration>%s</Expiration>
                </Credentials>
              </AssumeRoleResult>
              <ResponseMetadata>
                <RequestId>%s</RequestId>
              </ResponseMetadata>
            </AssumeRoleResponse>
            """
            .formatted(
                session,
                QueryProtocol.escape(assumedRole),
                key.accessKeyId(),
                key.secretAccessKey(),
                key.sessionToken(),
                expiresAt,
                UUID.randomUUID()));
  }

  private static Map<String, String> tags(Map<String, String> form) {
    Map<String, String> tags = new HashMap<>();
    for (Map.Entry<String, String> tag : QueryProtocol.tags(form)) {
      String key = tag.getKey();
      String value = tag.getValue();
      require(!key.isEmpty() && key.length() <= 128, "tag key: " + key);
      require(TAG_VALUE.matcher(value).matches(), "tag value: " + value);
      require(tags.put(key, value) == null, "tag key: " + key + " (expected: once)");
    }
    require(tags.size() <= MAX_TAGS, "tags: " + tags.size() + " (expected: <= 50)");
    return tags;
  }

  private static void require(boolean valid, String message) {
    if (!valid) {
      throw new ApiException(400, "ValidationError", message);
    }
  }
}
