package dev.tollgate.infra;

import java.nio.file.Path;
import java.util.OptionalInt;
import java.util.regex.Pattern;
import software.amazon.awscdk.RemovalPolicy;
import software.amazon.awscdk.services.logs.RetentionDays;

/**
 * What a {@link Tollgate} may be told.
 *
 * @param prefix stands in front of every name that the stack or its control plane gives, so that
 *     two deployments can share an account: {@code [a-z][a-z0-9]{0,5}_}, or empty
 * @param jars the code of the functions
 * @param removalPolicy what becomes of tables and logs when the stack is deleted
 * @param logRetention how long functions' logs and access logs are kept
 * @param sessionAccess who may create, see and end sessions
 * @param listTenants whether {@code GET /tenant} tells all tenant ids, for the demo page; never
 *     where a token says whose sessions somebody may have
 * @param consoleSignIn whether an operator must sign in, at a user pool of the stack's own, to see
 *     or change anything by the operator's page; false leaves the control plane open to whoever
 *     reaches that page's API
 * @param requestsPerSecond the steady rate that each route of an API takes from all tenants
 *     together
 * @param requestBurst how many requests a route takes at once before that rate counts
 * @param authorizerConcurrency how many handshakes the authorizer decides at once, reserved of the
 *     account's concurrency: a flood of handshakes takes no more from other functions, and is
 *     refused beyond it, together with clients' own. Empty reserves and bounds nothing
 * @param connectConcurrency the same of {@code $connect}
 * @param setsAccountLogRole whether the stack sets the role with which API Gateway writes logs in
 *     this account and Region. There is only one such setting, and a WebSocket API cannot have an
 *     access log without it; say false where it is set already
 * @param messageHandler the class that handles tenants' messages, a {@code TenantMessageHandler} in
 *     {@link FunctionJars#processor()}
 */
public record TollgateProps(
    String prefix,
    FunctionJars jars,
    RemovalPolicy removalPolicy,
    RetentionDays logRetention,
    SessionAccess sessionAccess,
    boolean listTenants,
    boolean consoleSignIn,
    int requestsPerSecond,
    int requestBurst,
    OptionalInt authorizerConcurrency,
    OptionalInt connectConcurrency,
    boolean setsAccountLogRole,
    String messageHandler) {

  /** Sends every message back to those who can hear it. */
  private static final String ECHO = "dev.tollgate.handlers.message.Echo";

  private static final Pattern CLASS_NAME =
      Pattern.compile("(?:[A-Za-z_$][\\w$]*\\.)*[A-Za-z_$][\\w$]*");

  /**
   * At most 7 characters: the name of a schedule has 64 (EventBridge Scheduler API Reference,
   * "CreateSchedule"), and behind the prefix 20 are the action's, 1 is an underscore, and 36 are
   * the tenant's.
   */
  private static final Pattern PREFIX = Pattern.compile("(?:[a-z][a-z0-9]{0,5}_)?");

  /**
   * Refuses values that no stack can be made of.
   *
   * @throws IllegalArgumentException when the prefix or the class name has another form, a rate or
   *     a concurrency is not positive, or tenants would be listed to holders of tokens
   */
  public TollgateProps {
    if (!PREFIX.matcher(prefix).matches()) {
      throw new IllegalArgumentException(
          "prefix: \""
              + prefix
              + "\" (expected: [a-z][a-z0-9]{0,5}_ or empty; names of schedules, which begin with it,"
              + " have at most 64 characters)");
    }
    if (prefix.equals("silo_")) {
      throw new IllegalArgumentException(
          "prefix: \"silo_\" (expected: another; the queues of tenants' own begin so where there is"
              + " no prefix)");
    }
    if (listTenants && sessionAccess instanceof SessionAccess.Jwt) {
      throw new IllegalArgumentException(
          "listTenants: true (expected: false where sessions are created with tokens; a token is"
              + " for one tenant, and GET /tenant would tell of all)");
    }
    requirePositive("requestsPerSecond", requestsPerSecond);
    requirePositive("requestBurst", requestBurst);
    authorizerConcurrency.ifPresent(value -> requirePositive("authorizerConcurrency", value));
    connectConcurrency.ifPresent(value -> requirePositive("connectConcurrency", value));
    if (!CLASS_NAME.matcher(messageHandler).matches()) {
      throw new IllegalArgumentException(
          "messageHandler: \"" + messageHandler + "\" (expected: the full name of a class)");
    }
  }

  private static void requirePositive(String name, int value) {
    if (value <= 0) {
      throw new IllegalArgumentException(name + ": " + value + " (expected: > 0)");
    }
  }

  /** The defaults: no prefix, data kept, nothing open to strangers. */
  public static Builder builder() {
    return new Builder();
  }

  /** Collects what differs from the defaults. */
  public static final class Builder {
    private String prefix = "";
    private FunctionJars jars = FunctionJars.under(Path.of(""));
    private RemovalPolicy removalPolicy = RemovalPolicy.RETAIN;
    private RetentionDays logRetention = RetentionDays.ONE_MONTH;
    private SessionAccess sessionAccess = new SessionAccess.Signed();
    private boolean listTenants;
    private boolean consoleSignIn = true;
    // 500 new connections a second is what an account has by default, in all WebSocket APIs of a
    // Region:
    // https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-execution-service-websocket-limits-table.html
    private int requestsPerSecond = 500;
    private int requestBurst = 500;
    private OptionalInt authorizerConcurrency = OptionalInt.empty();
    private OptionalInt connectConcurrency = OptionalInt.empty();
    private boolean setsAccountLogRole = true;
    private String messageHandler = ECHO;

    private Builder() {}

    /** See {@link TollgateProps#prefix()}. Default: empty. */
    public Builder prefix(String value) {
      prefix = value;
      return this;
    }

    /** See {@link TollgateProps#jars()}. Default: a built checkout in the working directory. */
    public Builder jars(FunctionJars value) {
      jars = value;
      return this;
    }

    /** See {@link TollgateProps#removalPolicy()}. Default: {@code RETAIN}. */
    public Builder removalPolicy(RemovalPolicy value) {
      removalPolicy = value;
      return this;
    }

    /** See {@link TollgateProps#logRetention()}. Default: one month. */
    public Builder logRetention(RetentionDays value) {
      logRetention = value;
      return this;
    }

    /** See {@link TollgateProps#sessionAccess()}. Default: {@link SessionAccess.Signed}. */
    public Builder sessionAccess(SessionAccess value) {
      sessionAccess = value;
      return this;
    }

    /** See {@link TollgateProps#listTenants()}. Default: false. */
    public Builder listTenants(boolean value) {
      listTenants = value;
      return this;
    }

    /** See {@link TollgateProps#consoleSignIn()}. Default: true. */
    public Builder consoleSignIn(boolean value) {
      consoleSignIn = value;
      return this;
    }

    /**
     * See {@link TollgateProps#requestsPerSecond()} and {@link TollgateProps#requestBurst()}.
     * Default: 500 and 500.
     */
    public Builder throttle(int perSecond, int burst) {
      requestsPerSecond = perSecond;
      requestBurst = burst;
      return this;
    }

    /** See {@link TollgateProps#authorizerConcurrency()}. Default: none reserved. */
    public Builder authorizerConcurrency(int value) {
      authorizerConcurrency = OptionalInt.of(value);
      return this;
    }

    /** See {@link TollgateProps#connectConcurrency()}. Default: none reserved. */
    public Builder connectConcurrency(int value) {
      connectConcurrency = OptionalInt.of(value);
      return this;
    }

    /** See {@link TollgateProps#setsAccountLogRole()}. Default: true. */
    public Builder setsAccountLogRole(boolean value) {
      setsAccountLogRole = value;
      return this;
    }

    /** See {@link TollgateProps#messageHandler()}. Default: the sample's, which echoes. */
    public Builder messageHandler(String value) {
      messageHandler = value;
      return this;
    }

    /**
     * The properties.
     *
     * @throws IllegalArgumentException when a value is refused
     */
    public TollgateProps build() {
      return new TollgateProps(
          prefix,
          jars,
          removalPolicy,
          logRetention,
          sessionAccess,
          listTenants,
          consoleSignIn,
          requestsPerSecond,
          requestBurst,
          authorizerConcurrency,
          connectConcurrency,
          setsAccountLogRole,
          messageHandler);
    }
  }
}
