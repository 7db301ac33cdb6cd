package dev.tollgate.handlers.connect;

import com.amazonaws.services.lambda.runtime.events.APIGatewayCustomAuthorizerEvent;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.session.Subject;
import dev.tollgate.handlers.jwt.TokenCheck;
import dev.tollgate.handlers.jwt.TokenVerifier;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Where a handshake names its tenant and the session that its connection joins. */
sealed interface TenantSource {
  /**
   * The caller of a handshake.
   *
   * @throws InvalidValue if a parameter is missing or malformed
   * @throws InvalidToken if a required token is missing or not valid
   */
  Caller caller(APIGatewayCustomAuthorizerEvent event);

  /**
   * The tenant of a handshake, and the session that its connection joins.
   *
   * @param subject the verified subject, for the application; empty without a token
   */
  record Caller(TenantId tenant, SessionId session, Optional<String> subject) {
    Caller(TenantId tenant, SessionId session) {
      this(tenant, session, Optional.empty());
    }
  }

  /**
   * The source that environment variables select. {@code TOKEN_PLACE} selects {@link OfToken},
   * {@code TENANT_PARAMETER} selects {@link OfParameters}; else it is {@link OfSession}.
   */
  static TenantSource of(Map<String, String> environment, InstantSource clock) {
    Optional<String> place = Optional.ofNullable(environment.get("TOKEN_PLACE"));
    if (place.isPresent()) {
      return new OfToken(
          TokenPlace.of(place.get()),
          verifier(environment, clock),
          required(environment, "TENANT_CLAIM"),
          Optional.ofNullable(environment.get("SUBJECT_CLAIM")),
          new SecureRandom());
    }
    return Optional.ofNullable(environment.get("TENANT_PARAMETER"))
        .<TenantSource>map(
            tenant ->
                new OfParameters(
                    tenant,
                    Optional.ofNullable(environment.get("SUBJECT_PARAMETER")),
                    new SecureRandom()))
        .orElseGet(OfSession::new);
  }

  private static TokenVerifier verifier(Map<String, String> environment, InstantSource clock) {
    return new TokenVerifier(
        new TokenVerifier.Accepted(
            required(environment, "TOKEN_ISSUER"),
            List.of(required(environment, "TOKEN_AUDIENCES").split(" ")),
            Set.of(required(environment, "TOKEN_ALGORITHMS").split(" ")),
            Duration.ofSeconds(Long.parseLong(required(environment, "TOKEN_CLOCK_SKEW_SECONDS")))),
        clock);
  }

  private static String required(Map<String, String> environment, String name) {
    return Optional.ofNullable(environment.get(name))
        .orElseThrow(() -> new IllegalStateException("environment variable " + name + ": absent"));
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

  /**
   * Claims of a JSON Web Token at an attached API. Sessions are shared as with {@link
   * OfParameters}.
   *
   * @param tenant the name of the claim with the tenant's id
   * @param subject the name of the claim with the subject; empty if connections share no session
   */
  record OfToken(
      TokenPlace place,
      TokenVerifier verifier,
      String tenant,
      Optional<String> subject,
      SecureRandom random)
      implements TenantSource {
    /** OpenID Connect Core 1.0, section 2, allows 255 characters. */
    private static final int MAX_SUBJECT = 255;

    @Override
    public Caller caller(APIGatewayCustomAuthorizerEvent event) {
      TokenCheck check = verifier.verify(place.token(event));
      if (check instanceof TokenCheck.Invalid invalid) {
        throw new InvalidToken(invalid.reason());
      }
      TokenCheck.Valid valid = (TokenCheck.Valid) check;
      TenantId named = tenant(valid);
      Optional<String> who = subject.map(name -> claim(valid, name));
      if (who.filter(text -> text.length() > MAX_SUBJECT).isPresent()) {
        throw new InvalidToken("the subject has more than " + MAX_SUBJECT + " characters");
      }
      return new Caller(
          named,
          who.map(text -> session(named, text)).orElseGet(() -> SessionId.random(random)),
          who);
    }

    private static String claim(TokenCheck.Valid token, String name) {
      return token
          .text(name)
          .orElseThrow(() -> new InvalidToken("claim " + name + ": absent, empty or not a string"));
    }

    private TenantId tenant(TokenCheck.Valid token) {
      try {
        return new TenantId(claim(token, tenant));
      } catch (InvalidValue malformed) {
        throw new InvalidToken("claim " + tenant + ": not the id of a tenant");
      }
    }

    private static SessionId session(TenantId named, String who) {
      try {
        return SessionId.of(Subject.of(named, who));
      } catch (InvalidValue malformed) {
        throw new InvalidToken("the subject is not Unicode text");
      }
    }
  }
}
