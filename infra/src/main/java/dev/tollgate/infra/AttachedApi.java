package dev.tollgate.infra;

import java.time.Duration;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import software.amazon.awscdk.services.apigatewayv2.IWebSocketApi;
import software.amazon.awscdk.services.apigatewayv2.IWebSocketStage;
import software.amazon.awscdk.services.lambda.IFunction;

/**
 * A WebSocket API of the application that Tollgate protects. Its routes, frames and clients stay as
 * they are. Tollgate authorizes {@code $connect}, and its functions stand before the application's
 * behind {@code $connect} and {@code $disconnect}:
 *
 * <pre>{@code
 * TollgateProps.builder().webSocketApi(AttachedApi.of(api, stage).connect(connect)).build()
 * }</pre>
 *
 * <p>If the API has these routes, add them before the Tollgate: their resources are changed in
 * place. Otherwise Tollgate adds them. The stage must deploy changes by itself ({@code
 * autoDeploy}).
 *
 * @param api the API, with a known endpoint; {@code $connect} must have no authorizer
 * @param stage the stage that clients connect to
 * @param tenants where a handshake names its tenant
 * @param connect the application's function for {@code $connect}, which may refuse an admitted
 *     connection with a status other than 2xx; empty if it has none
 * @param disconnect the application's function for {@code $disconnect}; empty if it has none
 */
public record AttachedApi(
    IWebSocketApi api,
    IWebSocketStage stage,
    TenantSource tenants,
    Optional<IFunction> connect,
    Optional<IFunction> disconnect) {
  private static final Pattern PARAMETER = Pattern.compile("[A-Za-z0-9._-]{1,64}");

  /** An API whose handshakes have the query parameter {@code tenantId}. */
  public static AttachedApi of(IWebSocketApi api, IWebSocketStage stage) {
    return new AttachedApi(
        api,
        stage,
        new TenantSource.QueryParameters("tenantId", Optional.empty()),
        Optional.empty(),
        Optional.empty());
  }

  /** This API, whose handshakes name the tenant in another query parameter. */
  public AttachedApi tenantParameter(String name) {
    return tenants(new TenantSource.QueryParameters(name, Optional.empty()));
  }

  /** This API, whose handshakes name the tenant elsewhere. */
  public AttachedApi tenants(TenantSource source) {
    return new AttachedApi(api, stage, source, connect, disconnect);
  }

  /** This API with the application's function for {@code $connect}. */
  public AttachedApi connect(IFunction function) {
    return new AttachedApi(api, stage, tenants, Optional.of(function), disconnect);
  }

  /** This API with the application's function for {@code $disconnect}. */
  public AttachedApi disconnect(IFunction function) {
    return new AttachedApi(api, stage, tenants, connect, Optional.of(function));
  }

  /** Where a handshake names its tenant. */
  public sealed interface TenantSource {
    /** The name of the claim or parameter with the user or device; empty if there is none. */
    Optional<String> subject();

    /**
     * Query parameters of the handshake. Clients choose them, so the application's {@code $connect}
     * function must refuse a client that names another tenant than its own.
     *
     * @param tenant the name of the parameter with the tenant's id
     * @param subject the name of the parameter with the user or device, to which {@code
     *     connectionsPerSession} and {@code sessionPerMinute} then apply; empty if only the
     *     tenant's limits apply. A handshake without a parameter named here is refused
     */
    record QueryParameters(String tenant, Optional<String> subject) implements TenantSource {
      /**
       * Checks the names.
       *
       * @throws IllegalArgumentException if a name is malformed
       */
      public QueryParameters {
        requireParameter("tenant", tenant);
        subject.ifPresent(name -> requireParameter("subject", name));
      }
    }

    /**
     * Claims of a JSON Web Token, which Tollgate's authorizer verifies against the keys that the
     * issuer publishes. A handshake without a token gets 401, with an invalid one 403. If the keys
     * cannot be fetched, it gets 500. An open connection outlives its token.
     *
     * @param place where the handshake carries the token
     * @param accepted issuer, audiences and the claim with the tenant's id, as for sessions
     * @param subject the name of the claim with the user or device, such as {@code sub}, to which
     *     {@code connectionsPerSession} and {@code sessionPerMinute} then apply; empty if only the
     *     tenant's limits apply. A token without a claim named here is refused
     * @param algorithms the accepted algorithms, at least one
     * @param clockSkew how far the issuer's clock may differ: whole seconds, 0 to 300
     */
    record WebToken(
        TokenPlace place,
        SessionAccess.Jwt accepted,
        Optional<String> subject,
        Set<Algorithm> algorithms,
        Duration clockSkew)
        implements TenantSource {
      private static final Pattern CLAIM = Pattern.compile("[!-~]{1,256}");
      private static final Duration MAX_SKEW = Duration.ofMinutes(5);

      /**
       * Checks the values.
       *
       * @throws IllegalArgumentException if a value is malformed
       */
      public WebToken {
        algorithms = Set.copyOf(algorithms);
        if (subject.isPresent() && !CLAIM.matcher(subject.get()).matches()) {
          throw new IllegalArgumentException(
              "subject: \"" + subject.get() + "\" (expected: the name of a claim, such as sub)");
        }
        if (algorithms.isEmpty()) {
          throw new IllegalArgumentException("algorithms: [] (expected: at least one)");
        }
        if (clockSkew.isNegative()
            || clockSkew.compareTo(MAX_SKEW) > 0
            || clockSkew.getNano() != 0) {
          throw new IllegalArgumentException(
              "clockSkew: " + clockSkew + " (expected: whole seconds, 0 to 300)");
        }
      }

      /** A token of any accepted algorithm; the issuer's clock may differ by a minute. */
      public WebToken(TokenPlace place, SessionAccess.Jwt accepted, Optional<String> subject) {
        this(place, accepted, subject, EnumSet.allOf(Algorithm.class), Duration.ofMinutes(1));
      }
    }
  }

  /** Algorithms of signatures (RFC 7518, section 3.1). */
  public enum Algorithm {
    /** RSASSA-PKCS1-v1_5 with SHA-256. */
    RS256,
    /** RSASSA-PKCS1-v1_5 with SHA-384. */
    RS384,
    /** RSASSA-PKCS1-v1_5 with SHA-512. */
    RS512,
    /** ECDSA with P-256 and SHA-256. */
    ES256,
    /** ECDSA with P-384 and SHA-384. */
    ES384,
    /** ECDSA with P-521 and SHA-512. */
    ES512
  }

  /** Where a handshake carries its JSON Web Token. */
  public sealed interface TokenPlace {
    /**
     * A query parameter. URLs may be logged, and have at most 4,096 characters.
     *
     * @param parameter the name of the parameter
     */
    record Query(String parameter) implements TokenPlace {
      /**
       * Checks the name.
       *
       * @throws IllegalArgumentException if it is malformed
       */
      public Query {
        requireParameter("parameter", parameter);
      }
    }

    /** The header {@code Authorization: Bearer TOKEN}, which browsers cannot send. */
    record Authorization() implements TokenPlace {}

    /**
     * A subprotocol {@code tollgate.bearer.TOKEN}, beside at least one other, which {@code
     * $connect} selects: {@code new WebSocket(url, ["chat", "tollgate.bearer." + token])}.
     */
    record Subprotocol() implements TokenPlace {}
  }

  private static void requireParameter(String what, String name) {
    if (!PARAMETER.matcher(name).matches()) {
      throw new IllegalArgumentException(
          what + ": \"" + name + "\" (expected: the name of a query parameter; " + PARAMETER + ")");
    }
  }
}
