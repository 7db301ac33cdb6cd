package dev.tollgate.handlers.connect;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.bucket.Lease;
import dev.tollgate.core.bucket.Place;
import dev.tollgate.core.connect.AdmissionDecision;
import dev.tollgate.core.connect.ConnectionBounds;
import dev.tollgate.core.connect.Refusal;
import dev.tollgate.core.connect.Ticket;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.LimitMode;
import dev.tollgate.core.tenant.OnUnavailable;
import java.time.Instant;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * An admission decision as the authorizer's context: a flat map of names and values. API Gateway
 * keeps the context as long as the connection is open and passes it to every route as text.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-lambda-authorizer-output.html">Output
 *     from an API Gateway Lambda authorizer</a>
 */
final class AuthorizerContext {
  static final String TENANT = "tenantId";
  static final String SESSION = "sessionId";

  /** The verified subject of a token; only the application reads it. */
  private static final String SUBJECT = "subject";

  /** The template of messages passes this value to SQS. */
  private static final String TRACE = "trace";

  private static final String VERDICT = "verdict";
  private static final String ADMIT = "ADMIT";
  private static final String TENANT_CONNECTIONS = "tenantConnections";
  private static final String CONNECTIONS_PER_SESSION = "connectionsPerSession";
  private static final String SESSION_PER_MINUTE = "sessionPerMinute";
  private static final String SESSION_TTL = "sessionTTL";
  private static final String LASTS_UNTIL = "lastsUntil";
  private static final String ON_UNAVAILABLE = "onUnavailable";
  private static final String MODE = "mode.";
  private static final String WOULD_REFUSE = "wouldRefuse";
  private static final String ARRIVAL = "arrival";
  private static final String PLACE_EPOCH = "placeEpoch";
  private static final String PLACE_NUMBER = "placeNumber";
  private static final String RECEIPT = "receipt";
  private static final String LEASE_ENDS_AT = "leaseEndsAt";

  private AuthorizerContext() {}

  /** The context of a connection that {@code $connect} may register. */
  static Map<String, Object> of(Ticket ticket) {
    Map<String, Object> context = new LinkedHashMap<>();
    context.put(VERDICT, ADMIT);
    context.put(TENANT, ticket.tenant().value());
    context.put(SESSION, ticket.session().value());
    ConnectionBounds bounds = ticket.bounds();
    context.put(TENANT_CONNECTIONS, bounds.tenantConnections());
    context.put(CONNECTIONS_PER_SESSION, bounds.connectionsPerSession());
    context.put(SESSION_PER_MINUTE, bounds.sessionPerMinute());
    bounds.modes().forEach((limit, mode) -> context.put(MODE + limit.key(), mode.name()));
    ticket.wouldRefuse().ifPresent(why -> context.put(WOULD_REFUSE, why.name()));
    context.put(SESSION_TTL, ticket.sessionTtl());
    ticket.latestEnd().ifPresent(end -> context.put(LASTS_UNTIL, end.toString()));
    context.put(ON_UNAVAILABLE, ticket.onUnavailable().name());
    ticket.arrival().ifPresent(arrival -> context.put(ARRIVAL, arrival.toString()));
    ticket
        .place()
        .ifPresent(
            place -> {
              context.put(PLACE_EPOCH, place.epoch());
              context.put(PLACE_NUMBER, place.number());
            });
    ticket
        .lease()
        .ifPresent(
            lease -> {
              context.put(RECEIPT, lease.receipt());
              context.put(LEASE_ENDS_AT, lease.endsAt().toString());
            });
    return context;
  }

  /** The context of a connection that is refused. */
  static Map<String, Object> of(TenantId tenant, SessionId session, Refusal refusal) {
    return Map.of(VERDICT, refusal.name(), TENANT, tenant.value(), SESSION, session.value());
  }

  /** A context with the subject, if there is one. */
  static Map<String, Object> withSubject(Map<String, Object> context, Optional<String> subject) {
    Map<String, Object> named = new LinkedHashMap<>(context);
    subject.ifPresent(who -> named.put(SUBJECT, who));
    return named;
  }

  /** A context with this trace header, unless it is empty. */
  static Map<String, Object> withTrace(Map<String, Object> context, String header) {
    if (header.isEmpty()) {
      return context;
    }
    Map<String, Object> traced = new LinkedHashMap<>(context);
    traced.put(TRACE, header);
    return traced;
  }

  /** The trace header of the connection's handshake; empty if it is not sampled. */
  static String trace(Map<String, Object> context) {
    return optional(context, TRACE).orElse("");
  }

  /**
   * Reads the decision from a context.
   *
   * @throws IllegalArgumentException if a value is missing or malformed
   */
  static AdmissionDecision decision(Map<String, Object> context) {
    String verdict = text(context, VERDICT);
    if (!verdict.equals(ADMIT)) {
      return new AdmissionDecision.Refused(Refusal.valueOf(verdict));
    }
    Optional<Lease> lease =
        optional(context, RECEIPT)
            .map(receipt -> new Lease(receipt, Instant.parse(text(context, LEASE_ENDS_AT))));
    return new AdmissionDecision.Ticketed(
        new Ticket(
            tenant(context),
            session(context),
            new ConnectionBounds(
                Long.parseLong(text(context, TENANT_CONNECTIONS)),
                Long.parseLong(text(context, CONNECTIONS_PER_SESSION)),
                Long.parseLong(text(context, SESSION_PER_MINUTE)),
                modes(context)),
            Long.parseLong(text(context, SESSION_TTL)),
            optional(context, LASTS_UNTIL).map(Instant::parse),
            optional(context, ARRIVAL).map(Instant::parse),
            optional(context, PLACE_NUMBER)
                .map(
                    number ->
                        new Place(
                            Long.parseLong(text(context, PLACE_EPOCH)), Long.parseLong(number))),
            OnUnavailable.valueOf(text(context, ON_UNAVAILABLE)),
            lease,
            optional(context, WOULD_REFUSE).map(Refusal::valueOf)));
  }

  private static Map<Limit, LimitMode> modes(Map<String, Object> context) {
    Map<Limit, LimitMode> modes = new EnumMap<>(Limit.class);
    for (Limit limit : Limit.values()) {
      optional(context, MODE + limit.key())
          .ifPresent(mode -> modes.put(limit, LimitMode.valueOf(mode)));
    }
    return modes;
  }

  /** The connection's tenant. */
  static TenantId tenant(Map<String, Object> context) {
    return new TenantId(text(context, TENANT));
  }

  /** The connection's session. */
  static SessionId session(Map<String, Object> context) {
    return new SessionId(text(context, SESSION));
  }

  private static Optional<String> optional(Map<String, Object> context, String name) {
    return Optional.ofNullable(context.get(name)).map(Object::toString);
  }

  private static String text(Map<String, Object> context, String name) {
    return optional(context, name)
        .orElseThrow(
            () -> new IllegalArgumentException("The authorizer's context has no " + name + "."));
  }
}
