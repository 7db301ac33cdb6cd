package dev.tollgate.client;

import static dev.tollgate.core.JsonText.quoted;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;

/**
 * A limit of messages for functions behind the routes of a WebSocket API. Each message costs one
 * token of the tenant's bucket. A refused message gets a frame for its sender, in the form of
 * Tollgate's own error frames:
 *
 * <pre>{@code
 * private final MessageLimit limit = new MessageLimit(TollgateClient.fromEnvironment(), "message");
 *
 * Optional<String> refusal = limit.refuse(tenantId, Optional.of(id));
 * if (refusal.isPresent()) {
 *   return Map.of("statusCode", 200, "body", refusal.get()); // the route needs a route response
 * }
 * }</pre>
 *
 * <p>{@link #refuse} gives all refused messages the time of the next token. {@link #refuseInLine}
 * gives each a slot of its own, if clients send back the frame's {@code place}.
 *
 * <p>Both methods throw {@link UnknownBucket} if the tenant or the bucket does not exist, {@link
 * IllegalArgumentException} if the tenant's id is malformed, and {@link IllegalStateException} if
 * the client is closed. Thread-safe.
 */
public final class MessageLimit {
  private static final String THROTTLED_DETAIL =
      "the tenant sent as many messages as its limit allows";
  private static final String UNAVAILABLE_DETAIL = "the limit cannot be checked; try again";

  private final TollgateClient tollgate;
  private final String action;
  private final InstantSource clock;
  private final boolean admitsUndecided;

  /**
   * A limit that refuses messages while claims are {@link Claim.Undecided}.
   *
   * @param tollgate the client; the caller closes it
   * @param action the bucket: {@code message}, whose rate is the limit {@code messagesPerMinute},
   *     or an action that the tenants' tiers define
   */
  public MessageLimit(TollgateClient tollgate, String action) {
    this(tollgate, action, InstantSource.system());
  }

  /**
   * A limit whose seconds until a retry are counted by a clock; in tests, {@code
   * inMemoryTollgate::now}.
   */
  public MessageLimit(TollgateClient tollgate, String action, InstantSource clock) {
    this(tollgate, action, clock, false);
  }

  private MessageLimit(
      TollgateClient tollgate, String action, InstantSource clock, boolean admitsUndecided) {
    this.tollgate = tollgate;
    this.action = action;
    this.clock = clock;
    this.admitsUndecided = admitsUndecided;
  }

  /** A copy that admits messages while claims are {@link Claim.Undecided}. */
  public MessageLimit admitUndecided() {
    return new MessageLimit(tollgate, action, clock, true);
  }

  /**
   * Claims a token for a message. Empty if the message is admitted; otherwise the frame for its
   * sender.
   *
   * @param tenantId the id that the authorizer found: {@code requestContext.authorizer.tenantId}
   * @param id the message's own id, which the frame repeats; empty if messages have none
   */
  public Optional<String> refuse(String tenantId, Optional<String> id) {
    return refusal(tollgate.bucket(tenantId, action).tryClaim(), id);
  }

  /**
   * Claims a token for a message, or takes a place in the bucket's line. The frame has a {@code
   * place}, unless the line is full or switched off. A message that is sent again with this place,
   * {@code retryAfterSeconds} later, is admitted.
   *
   * <p>Clients can forge places. A forged place takes the token of another message of the same
   * tenant; it never admits more than the bucket has.
   *
   * @param tenantId as in {@link #refuse}
   * @param id as in {@link #refuse}
   * @param place the place that the client sent back; empty at the first attempt. A malformed place
   *     or one of another bucket counts as none
   */
  public Optional<String> refuseInLine(
      String tenantId, Optional<String> id, Optional<String> place) {
    TokenBucket bucket = tollgate.bucket(tenantId, action);
    return refusal(
        place
            .flatMap(MessageLimit::parsed)
            .filter(own -> own.tenantId().equals(tenantId) && own.action().equals(action))
            .map(bucket::claim)
            .orElseGet(bucket::claimInLine),
        id);
  }

  private static Optional<Place> parsed(String place) {
    try {
      return Optional.of(Place.parse(place));
    } catch (IllegalArgumentException malformed) {
      return Optional.empty();
    }
  }

  private Optional<String> refusal(Claim claim, Optional<String> id) {
    if (claim instanceof Claim.Denied denied) {
      String place = denied.place().map(own -> ",\"place\":" + quoted(own.toString())).orElse("");
      return Optional.of(
          error(
              id,
              "THROTTLED",
              THROTTLED_DETAIL,
              ",\"retryAfterSeconds\":" + secondsUntil(denied.retryAt()) + place));
    }
    return claim instanceof Claim.Undecided && !admitsUndecided
        ? Optional.of(error(id, "UNAVAILABLE", UNAVAILABLE_DETAIL, ""))
        : Optional.empty();
  }

  private long secondsUntil(Instant retryAt) {
    Duration wait = Duration.between(clock.instant(), retryAt);
    return Math.max(1, wait.plusNanos(999_999_999).toSeconds());
  }

  private static String error(Optional<String> id, String code, String detail, String more) {
    return "{\"type\":\"error\""
        + id.map(own -> ",\"id\":" + quoted(own)).orElse("")
        + ",\"code\":"
        + quoted(code)
        + ",\"detail\":"
        + quoted(detail)
        + more
        + "}";
  }
}
