package dev.tollgate.infra;

import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.regex.Pattern;
import software.amazon.awscdk.RemovalPolicy;
import software.amazon.awscdk.services.logs.RetentionDays;

/**
 * The properties of a {@link Tollgate}.
 *
 * @param prefix the prefix of all names that the stack and its control plane create, so that two
 *     deployments can share an account: {@code [a-z][a-z0-9]{0,5}_}, or empty. In one account and
 *     Region, each deployment needs a prefix of its own; otherwise CloudFormation reports that the
 *     queue {@code tollgate_pool.fifo} or the schedule group {@code tollgate} already exists
 * @param jars the code of the functions
 * @param removalPolicy whether tables, logs and the user pool are kept when the stack is deleted;
 *     {@code RETAIN} also keeps those of a stack whose creation failed
 * @param logRetention how long functions' logs and access logs are kept
 * @param sessionAccess who may create, show and end sessions
 * @param listTenants whether {@code GET /tenant} returns all tenant ids, for the sample client;
 *     must be false if sessions require tokens
 * @param consoleSignIn whether operators must sign in to a user pool of the stack to use the
 *     operator page; false leaves the control plane open to everyone who can reach the page's API
 * @param requestsPerSecond the steady rate of requests that each route of an API accepts, for all
 *     tenants together. An account may open 500 WebSocket connections per second in a Region unless
 *     AWS raises this quota, so a higher rate has no effect on handshakes
 * @param requestBurst the number of requests that a route accepts at once above that rate
 * @param authorizerConcurrency the reserved concurrency of the authorizer, which is also its
 *     maximum: a flood of handshakes cannot use up the account's concurrency, but handshakes beyond
 *     it are refused, including those of legitimate clients. Lambda refuses a reservation that
 *     leaves too little of the account's concurrency for other functions, so a new account with a
 *     low quota may reserve none. Empty for no reservation and no maximum
 * @param connectConcurrency the reserved concurrency of {@code $connect}
 * @param producerConcurrency the reserved concurrency of the token producer: fills cannot take the
 *     account's concurrency from handshakes, and others cannot take it from fills. Fills beyond it
 *     wait for up to a minute, and are then dropped
 * @param socketChecksPerMinute how many sockets of tenants near a limit the housekeeper checks a
 *     minute with API Gateway, for all tenants together. With fewer checks, connections whose end
 *     was not reported are counted for longer. Empty for 30,000
 * @param connectionQuota how many WebSocket connections per second the account may open in the
 *     Region, if AWS has raised the default quota of 500; the control plane's doctor compares the
 *     tenants' connect rates with it. A higher quota has no effect beyond {@link
 *     #requestsPerSecond}. Empty for the default
 * @param setsAccountLogRole whether the stack sets the role with which API Gateway writes logs in
 *     this account and Region. There is only one such setting for all APIs, and access logs of
 *     WebSocket APIs need it. True overwrites the role that is set; false requires that one is set,
 *     or the stage cannot be created
 * @param messageHandler the class that handles tenants' messages, a {@code TenantMessageHandler} in
 *     {@link FunctionJars#processor()}
 * @param alarmTopic the ARN of the SNS topic that gets the alarms; empty for a stack without alarms
 *     and without a dashboard
 * @param eventSchemas whether the schema of the events is in a registry of EventBridge, which not
 *     every Region has
 * @param lab whether the operator page can open many connections of a tenant, to try out its
 *     limits; only where sessions are {@link SessionAccess.Open}
 * @param tracing whether the functions of handshakes, messages and sessions record traces in AWS
 *     X-Ray
 * @param shareCredentials whether the instances of a function share tenants' credentials in a table
 *     with a KMS key of its own. Otherwise each instance requests a tenant's credentials from STS:
 *     about one call per instance and tenant in use in 45 minutes, of some 600 calls a second that
 *     an account may send. The table holds secrets, so share only if that is too few
 * @param webSocketApi the application's own WebSocket API, which Tollgate protects, and whose
 *     clients need no session API: only with {@link SessionAccess.Signed}. Empty for an API that
 *     Tollgate creates, whose frames go to the message handler
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
    OptionalInt producerConcurrency,
    OptionalInt socketChecksPerMinute,
    OptionalInt connectionQuota,
    boolean setsAccountLogRole,
    String messageHandler,
    Optional<String> alarmTopic,
    boolean eventSchemas,
    boolean lab,
    boolean tracing,
    boolean shareCredentials,
    Optional<AttachedApi> webSocketApi) {

  /**
   * The default quota of an account, for all its WebSocket APIs in a Region.
   *
   * @see <a
   *     href="https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-execution-service-websocket-limits-table.html">Quotas</a>
   */
  static final int NEW_CONNECTIONS_A_SECOND = 500;

  /** The sample handler, which sends every message back. */
  private static final String ECHO = "dev.tollgate.handlers.message.Echo";

  private static final Pattern CLASS_NAME =
      Pattern.compile("(?:[A-Za-z_$][\\w$]*\\.)*[A-Za-z_$][\\w$]*");

  /**
   * At most 7 characters. The name of a schedule has at most 64 (EventBridge Scheduler API
   * Reference, "CreateSchedule"): the prefix, an action (20), an underscore and a tenant id (36).
   */
  private static final Pattern PREFIX = Pattern.compile("(?:[a-z][a-z0-9]{0,5}_)?");

  private static final Pattern TOPIC_ARN =
      Pattern.compile("arn:aws[a-z-]*:sns:[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_-]{1,256}");

  /**
   * Checks the values.
   *
   * @throws IllegalArgumentException if the prefix or the class name is malformed, a rate or
   *     concurrency is not positive, tenants would be listed although sessions require tokens, or
   *     {@code webSocketApi} is combined with sessions of callers outside the account
   */
  public TollgateProps {
    if (!PREFIX.matcher(prefix).matches()) {
      throw new IllegalArgumentException(
          "prefix: \""
              + prefix
              + "\" (expected: [a-z][a-z0-9]{0,5}_ or empty; names of schedules begin with it and have"
              + " at most 64 characters)");
    }
    if (prefix.equals("silo_")) {
      throw new IllegalArgumentException(
          "prefix: \"silo_\" (expected: another prefix; queues of silo tenants without a prefix begin"
              + " with silo_)");
    }
    if (listTenants && sessionAccess instanceof SessionAccess.Jwt) {
      throw new IllegalArgumentException(
          "listTenants: true (expected: false if sessions require tokens; GET /tenant would reveal"
              + " all tenants to the holder of one tenant's token)");
    }
    if (webSocketApi.isPresent() && !(sessionAccess instanceof SessionAccess.Signed)) {
      throw new IllegalArgumentException(
          "sessionAccess: "
              + sessionAccess.getClass().getSimpleName()
              + " (expected: Signed, the default, if there is a webSocketApi; whoever knows a subject"
              + " can compute the id of its session, and could end it with DELETE /session)");
    }
    requirePositive("requestsPerSecond", requestsPerSecond);
    requirePositive("requestBurst", requestBurst);
    authorizerConcurrency.ifPresent(value -> requirePositive("authorizerConcurrency", value));
    connectConcurrency.ifPresent(value -> requirePositive("connectConcurrency", value));
    producerConcurrency.ifPresent(value -> requirePositive("producerConcurrency", value));
    socketChecksPerMinute.ifPresent(value -> requirePositive("socketChecksPerMinute", value));
    connectionQuota.ifPresent(value -> requirePositive("connectionQuota", value));
    alarmTopic.ifPresent(TollgateProps::requireTopic);
    if (!CLASS_NAME.matcher(messageHandler).matches()) {
      throw new IllegalArgumentException(
          "messageHandler: \"" + messageHandler + "\" (expected: a fully qualified class name)");
    }
  }

  private static void requireTopic(String arn) {
    if (!TOPIC_ARN.matcher(arn).matches()) {
      throw new IllegalArgumentException(
          "alarmTopic: \""
              + arn
              + "\" (expected: the ARN of an SNS topic; arn:aws:sns:REGION:ACCOUNT:NAME)");
    }
  }

  private static void requirePositive(String name, int value) {
    if (value <= 0) {
      throw new IllegalArgumentException(name + ": " + value + " (expected: > 0)");
    }
  }

  /** A builder with the defaults: no prefix, data is kept, all access is authenticated. */
  public static Builder builder() {
    return new Builder();
  }

  /** Builds properties. */
  public static final class Builder {
    private String prefix = "";
    private FunctionJars jars = FunctionJars.under(Path.of(""));
    private RemovalPolicy removalPolicy = RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE;
    private RetentionDays logRetention = RetentionDays.ONE_MONTH;
    private SessionAccess sessionAccess = new SessionAccess.Signed();
    private boolean listTenants;
    private boolean consoleSignIn = true;
    private int requestsPerSecond = NEW_CONNECTIONS_A_SECOND;
    private int requestBurst = NEW_CONNECTIONS_A_SECOND;
    private OptionalInt authorizerConcurrency = OptionalInt.empty();
    private OptionalInt connectConcurrency = OptionalInt.empty();
    private OptionalInt producerConcurrency = OptionalInt.empty();
    private OptionalInt socketChecksPerMinute = OptionalInt.empty();
    private OptionalInt connectionQuota = OptionalInt.empty();
    private Optional<String> alarmTopic = Optional.empty();
    private boolean eventSchemas;
    private boolean lab;
    private boolean tracing;
    private boolean shareCredentials;
    private Optional<AttachedApi> webSocketApi = Optional.empty();
    private boolean setsAccountLogRole;
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

    /** See {@link TollgateProps#removalPolicy()}. Default: {@code RETAIN_ON_UPDATE_OR_DELETE}. */
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

    /** See {@link TollgateProps#producerConcurrency()}. Default: none reserved. */
    public Builder producerConcurrency(int value) {
      producerConcurrency = OptionalInt.of(value);
      return this;
    }

    /** See {@link TollgateProps#socketChecksPerMinute()}. Default: 30,000. */
    public Builder socketChecksPerMinute(int value) {
      socketChecksPerMinute = OptionalInt.of(value);
      return this;
    }

    /** See {@link TollgateProps#connectionQuota()}. Default: AWS's default quota. */
    public Builder connectionQuota(int value) {
      connectionQuota = OptionalInt.of(value);
      return this;
    }

    /** See {@link TollgateProps#setsAccountLogRole()}. Default: false. */
    public Builder setsAccountLogRole(boolean value) {
      setsAccountLogRole = value;
      return this;
    }

    /** See {@link TollgateProps#messageHandler()}. Default: the sample handler, which echoes. */
    public Builder messageHandler(String value) {
      messageHandler = value;
      return this;
    }

    /** See {@link TollgateProps#alarmTopic()}. Default: no alarms and no dashboard. */
    public Builder alarmTopic(String arn) {
      alarmTopic = Optional.of(arn);
      return this;
    }

    /** See {@link TollgateProps#eventSchemas()}. Default: false. */
    public Builder eventSchemas(boolean registered) {
      eventSchemas = registered;
      return this;
    }

    /** See {@link TollgateProps#lab()}. Default: false. */
    public Builder lab(boolean value) {
      lab = value;
      return this;
    }

    /** See {@link TollgateProps#tracing()}. Default: false. */
    public Builder tracing(boolean value) {
      tracing = value;
      return this;
    }

    /** See {@link TollgateProps#shareCredentials()}. Default: false. */
    public Builder shareCredentials(boolean value) {
      shareCredentials = value;
      return this;
    }

    /** See {@link TollgateProps#webSocketApi()}. Default: Tollgate creates an API. */
    public Builder webSocketApi(AttachedApi value) {
      webSocketApi = Optional.of(value);
      return this;
    }

    /**
     * Builds the properties.
     *
     * @throws IllegalArgumentException if a value is invalid
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
          producerConcurrency,
          socketChecksPerMinute,
          connectionQuota,
          setsAccountLogRole,
          messageHandler,
          alarmTopic,
          eventSchemas,
          lab,
          tracing,
          shareCredentials,
          webSocketApi);
    }
  }
}
