package dev.tollgate.handlers.connect;

import com.amazonaws.services.lambda.runtime.events.APIGatewayCustomAuthorizerEvent;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.session.Subject;
import java.security.SecureRandom;
import java.util.Map;
import java.util.Optional;

/** Where a handshake names its tenant and the session that its connection joins. */
sealed interface TenantSource {
  /**
   * The caller of a handshake.
   *
   * @throws InvalidValue if a value is missing or malformed
   */
  Caller caller(APIGatewayCustomAuthorizerEvent event);

  /** The tenant of a handshake, and the session that its connection joins. */
  record Caller(TenantId tenant, SessionId session) {}

  /**
   * The source that environment variables select: {@code TENANT_PARAMETER}, the name of a query
   * parameter, and optionally {@code SUBJECT_PARAMETER} at an attached API; else {@link OfSession}.
   */
  static TenantSource of(Map<String, String> environment) {
    return Optional.ofNullable(environment.get("TENANT_PARAMETER"))
        .<TenantSource>map(
            tenant ->
                new OfParameters(
                    tenant,
                    Optional.ofNullable(environment.get("SUBJECT_PARAMETER")),
                    new SecureRandom()))
        .orElseGet(OfSession::new);
  }

  private static String parameter(APIGatewayCustomAuthorizerEvent event, String name) {
    return Optional.ofNullable(event.getQueryStringParameters())
        .map(parameters -> parameters.get(name))
        .orElse("");
  }

  /** The query parameters {@code tenantId} and {@code sessionId}: the client created a session. */
  record OfSession() implements TenantSource {
    @Override
    public Caller caller(APIGatewayCustomAuthorizerEvent event) {
      return new Caller(
          new TenantId(parameter(event, AuthorizerContext.TENANT)),
          new SessionId(parameter(event, AuthorizerContext.SESSION)));
    }
  }

  /**
   * Query parameters of an attached API. All connections of a subject share a session; without
   * subjects, each connection has a session of its own.
   *
   * @param tenant the name of the parameter with the tenant's id
   * @param subject the name of the parameter with the subject; empty if handshakes have none
   */
  record OfParameters(String tenant, Optional<String> subject, SecureRandom random)
      implements TenantSource {
    private static final String ANY = "any text but the empty one";

    @Override
    public Caller caller(APIGatewayCustomAuthorizerEvent event) {
      TenantId named = new TenantId(parameter(event, tenant));
      return new Caller(
          named,
          subject
              .map(name -> session(named, parameter(event, name)))
              .orElseGet(() -> SessionId.random(random)));
    }

    private SessionId session(TenantId named, String value) {
      InvalidValue.unless(!value.isEmpty(), subject.orElseThrow(), value, ANY);
      return SessionId.of(Subject.of(named, value));
    }
  }
}
