package dev.tollgate.local;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tollgate.local.endpoint.AccessKey;
import dev.tollgate.local.endpoint.AccessKeys;
import dev.tollgate.local.endpoint.Authorization;
import dev.tollgate.local.endpoint.Endpoint;
import dev.tollgate.local.endpoint.Principal;
import dev.tollgate.local.endpoint.RecordedRequests;
import dev.tollgate.local.endpoint.SecurityTokens;
import dev.tollgate.local.endpoint.ServiceClient;
import dev.tollgate.local.engines.QueueEngine;
import dev.tollgate.local.engines.TableEngine;
import dev.tollgate.local.events.EventSources;
import dev.tollgate.local.faults.FaultKind;
import dev.tollgate.local.faults.Faults;
import dev.tollgate.local.faults.LostEvents;
import dev.tollgate.local.faults.RequestFaults;
import dev.tollgate.local.faults.ScheduleFaults;
import dev.tollgate.local.gateway.Gateway;
import dev.tollgate.local.iam.Accesses;
import dev.tollgate.local.iam.Caller;
import dev.tollgate.local.iam.Context;
import dev.tollgate.local.iam.FunctionPolicies;
import dev.tollgate.local.iam.Iam;
import dev.tollgate.local.iam.Policies;
import dev.tollgate.local.iam.Policy;
import dev.tollgate.local.iam.TableKeys;
import dev.tollgate.local.lambda.FunctionCatalog;
import dev.tollgate.local.lambda.Functions;
import dev.tollgate.local.lambda.InvokeApi;
import dev.tollgate.local.lambda.LambdaApi;
import dev.tollgate.local.scheduler.Scheduler;
import dev.tollgate.local.sites.AllowedHosts;
import dev.tollgate.local.template.Environment;
import dev.tollgate.local.template.Template;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * A stack on one machine: what its synthesized template says, brought up on embedded engines. One
 * process, no Docker, no AWS account.
 */
public final class LocalCloud implements AutoCloseable {
  private static final String REGION = "us-east-1";
  private static final String ACCOUNT = "000000000000";
  private static final Caller.Service LAMBDA = new Caller.Service("lambda.amazonaws.com");

  private final Deque<AutoCloseable> parts = new ArrayDeque<>();
  private final RecordedRequests requests = new RecordedRequests();
  private final Faults faults;
  private final LostEvents lostEvents;
  private final AccessKeys accessKeys = new AccessKeys();
  private final Environment environment;
  private final SecurityTokens securityTokens;
  private final Policies policies;
  private final Endpoint frontDoor;
  private final Functions functions;
  private final FunctionCatalog catalog;
  private final EventSources eventSources;
  private final InvokeApi invocations;
  private final Gateway gateway;
  private final Scheduler scheduler;
  private final Map<String, String> outputs;

  private LocalCloud(Options options) throws Exception {
    faults = new Faults(options.faults());
    lostEvents = new LostEvents(faults);
    try {
      Template template = Template.read(options.assembly());
      environment = new Environment(ACCOUNT, REGION, template.stackName());
      RunLog log = opened(RunLog.open(options.clock(), options.logFile()));
      TableEngine tables = opened(TableEngine.start(directory(options, "tables")));
      QueueEngine queues =
          opened(
              QueueEngine.start(
                  directory(options, "queues"),
                  options.clock(),
                  REGION,
                  ACCOUNT,
                  queue -> expiresEarly(queue, options.clock())));
      policies = new Policies(resource -> policyOfQueue(queues, resource));
      TableKeys partitionKeys = new TableKeys();
      Authorization authorization =
          options.iam()
              ? new Iam(
                  new Accesses(environment, partitionKeys, this::functionOfMapping),
                  policies,
                  log::event)
              : Authorization.NONE;
      frontDoor =
          opened(
              Endpoint.open(
                  accessKeys,
                  authorization,
                  requests,
                  new RequestFaults(faults, policies::isAdministrator, this::isFunction, this::kill)
                      ::before,
                  options.clock()));
      Optional<Policies> obeyed = options.iam() ? Optional.of(policies) : Optional.empty();
      securityTokens = new SecurityTokens(accessKeys, options.clock());
      functions = opened(new Functions(options.clock(), log::write));
      ExecutorService workers = Executors.newCachedThreadPool(LocalCloud::daemon);
      opened(workers::shutdownNow);
      frontDoor.serve("dynamodb", tables.handler());
      frontDoor.serve("sqs", queues.handler());
      frontDoor.serve("sts", securityTokens);
      Assets assets = new Assets(template);
      catalog =
          opened(
              new FunctionCatalog(
                  functions,
                  options.clock(),
                  new FunctionCatalog.Account(
                      environment.arn("lambda", "function:"),
                      Map.of(
                          "AWS_ENDPOINT_URL", frontDoor.endpoint().toString(),
                          "AWS_REGION", environment.region()),
                      (name, role) -> new RoleCredentials(accessKeys, Principal.of(name, role)),
                      role ->
                          securityTokens.isRole(role)
                              && obeyed
                                  .map(all -> all.trusts(role, LAMBDA, Context.EMPTY))
                                  .orElse(true),
                      assets::find),
                  directory(options, "functions")));
      eventSources =
          opened(
              new EventSources(
                  functions,
                  catalog,
                  client("Lambda"),
                  (name, role) -> client(Principal.of(name, role)),
                  options.clock(),
                  environment.arn("lambda", "event-source-mapping:"),
                  directory(options, "functions"),
                  table -> faults.occurs(FaultKind.STREAM_REPLAYED, table),
                  log::event));
      frontDoor.watch(eventSources::saw);
      invocations = new InvokeApi(functions, workers);
      frontDoor.serve(
          "lambda", new LambdaApi(invocations, catalog.operations(), eventSources.operations()));
      gateway =
          opened(
              new Gateway(
                  new InetSocketAddress(options.bind(), options.port()),
                  AllowedHosts.LOCAL.and(options.hosts()),
                  lostEvents.before(functions),
                  new ServiceIntegrations(this::client, obeyed),
                  options.clock(),
                  frontDoor::guard,
                  log::event));

      ServiceClient cloudFormation = client("CloudFormation");
      FunctionParts functionParts = new FunctionParts(assets, environment, catalog);
      FunctionPolicies functionPolicies = new FunctionPolicies(environment);
      AccessParts accessParts =
          new AccessParts(environment, securityTokens, policies, functionPolicies, cloudFormation);
      EventParts eventParts = new EventParts();
      UserPools userPools = new UserPools(environment);
      ApiParts apiParts =
          new ApiParts(gateway.address(), options.keySets(), userPools::issue, options.clock());
      ScheduleParts scheduleParts = new ScheduleParts(environment);
      outputs =
          new BringUp(
                  template,
                  environment,
                  Map.ofEntries(
                      Map.entry("AWS::ApiGatewayV2::Api", apiParts::api),
                      Map.entry("AWS::ApiGatewayV2::Authorizer", apiParts::authorizer),
                      Map.entry("AWS::ApiGatewayV2::Integration", apiParts::integration),
                      Map.entry(
                          "AWS::ApiGatewayV2::IntegrationResponse", apiParts::integrationResponse),
                      Map.entry("AWS::ApiGatewayV2::Route", apiParts::route),
                      Map.entry("AWS::ApiGatewayV2::RouteResponse", apiParts::routeResponse),
                      Map.entry("AWS::ApiGatewayV2::Stage", apiParts::stage),
                      Map.entry("AWS::Cognito::UserPool", userPools::pool),
                      Map.entry("AWS::Cognito::UserPoolClient", userPools::client),
                      Map.entry("AWS::Cognito::UserPoolDomain", userPools::domain),
                      Map.entry(
                          "AWS::DynamoDB::Table",
                          new Tables(cloudFormation, environment, partitionKeys)),
                      Map.entry("AWS::IAM::Policy", accessParts::policy),
                      Map.entry("AWS::IAM::Role", accessParts::role),
                      Map.entry("AWS::Lambda::Alias", functionParts::alias),
                      Map.entry("AWS::Lambda::EventInvokeConfig", functionParts::eventInvokeConfig),
                      Map.entry("AWS::Lambda::EventSourceMapping", eventParts::mapping),
                      Map.entry("AWS::Lambda::Function", functionParts::function),
                      Map.entry("AWS::Lambda::Permission", accessParts::permission),
                      Map.entry("AWS::Lambda::Version", functionParts::version),
                      Map.entry("AWS::Logs::LogGroup", functionParts::logGroup),
                      Map.entry("AWS::SQS::Queue", new Queues(cloudFormation, environment)),
                      Map.entry("AWS::SQS::QueuePolicy", accessParts::queuePolicy),
                      Map.entry("AWS::Scheduler::Schedule", scheduleParts::schedule),
                      Map.entry("AWS::Scheduler::ScheduleGroup", scheduleParts::group)))
              .run();
      functionParts.define();
      eventParts.add(eventSources);
      // Schedules that were kept may be due at once, so only now.
      scheduler =
          opened(
              new Scheduler(
                  options.clock(),
                  new ScheduleTargets(functions, this::client, obeyed, environment.accountId()),
                  new ScheduleFaults(faults),
                  directory(options, "schedules")));
      frontDoor.serve("scheduler", scheduler.http());
      scheduleParts.put(scheduler);
      apiParts.serve(gateway);
      if (options.iam()) {
        apiParts.requireInvocable(
            (function, source) ->
                functionPolicies.allows(
                    function, "apigateway.amazonaws.com", environment.arn("execute-api", source)));
      }
      eventSources.start();
      requests.clear();
    } catch (Exception e) {
      close();
      throw e;
    }
  }

  /**
   * Starts a cloud. When it returns, everything answers.
   *
   * @throws dev.tollgate.local.template.TemplateException if the template says what cannot be done
   *     here
   * @throws IllegalStateException if a part does not start
   */
  public static LocalCloud start(Options options) {
    try {
      return new LocalCloud(options);
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new IllegalStateException("The local cloud does not start", e);
    }
  }

  /** The stack's outputs, by name. */
  public Map<String, String> outputs() {
    return Map.copyOf(outputs);
  }

  /**
   * Writes the outputs as {@code cdk deploy --outputs-file} does.
   *
   * @throws UncheckedIOException if the file cannot be written
   */
  public void writeOutputs(Path file) {
    try {
      PrivateFiles.write(
          file,
          List.of(
              new ObjectMapper()
                  .writerWithDefaultPrettyPrinter()
                  .writeValueAsString(Map.of(environment.stackName(), new TreeMap<>(outputs)))));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The record of the AWS calls since the cloud was up. */
  public RecordedRequests requests() {
    return requests;
  }

  /** The policies of the stack's roles, and what they have allowed. */
  public Policies policies() {
    return policies;
  }

  /** The faults of this cloud: planned ones, and those that a test injects. */
  public Faults faults() {
    return faults;
  }

  /** Makes API Gateway lose events on their way to a function. */
  public LostEvents lostEvents() {
    return lostEvents;
  }

  /** Where the AWS APIs of this cloud are: a value for {@code AWS_ENDPOINT_URL}. */
  public URI endpoint() {
    return frontDoor.endpoint();
  }

  /**
   * Credentials for somebody outside of the stack, such as a test, whose calls are recorded under
   * the name and may do everything.
   */
  public AccessKey accessKey(String name) {
    String role = environment.globalArn("iam", "role/" + name);
    policies.addAdministrator(role);
    return accessKeys.issue(Principal.of(name, role));
  }

  /**
   * Credentials of a role of the stack: those of whoever has taken over what runs as it.
   *
   * @param role the role's name
   * @throws IllegalArgumentException if there is no such role
   */
  public AccessKey accessKeyOf(String role) {
    String arn = environment.globalArn("iam", "role/" + role);
    if (!securityTokens.isRole(arn)) {
      throw new IllegalArgumentException("role: " + role + " (expected: one of the stack's)");
    }
    return accessKeys.issue(Principal.of(role, arn));
  }

  /**
   * What the environment of a program must hold that runs on this machine as a role of the stack:
   * where AWS is, and credentials.
   *
   * @param role the role's name
   * @throws IllegalArgumentException if there is no such role
   */
  public Map<String, String> environmentOf(String role) {
    Map<String, String> variables = new TreeMap<>(accessKeyOf(role).environment());
    variables.put("AWS_ENDPOINT_URL", endpoint().toString());
    variables.put("AWS_REGION", environment.region());
    return variables;
  }

  /**
   * Waits until everything that is due at the clock's instant has happened, and what it set off has
   * ended: schedules, frames and disconnections, messages that can be received, the records of
   * streams and asynchronous invocations. What is delayed, in flight or to be tried again later
   * than that instant is not due.
   */
  public void settle() throws InterruptedException {
    long before = -1;
    long ended = 0;
    while (ended != before) {
      before = ended;
      scheduler.settle();
      gateway.settle();
      ended = eventSources.settle() + invocations.settle();
    }
  }

  /**
   * Ends a function's invocations as if its processes had died.
   *
   * @throws IllegalArgumentException if there is no such function
   */
  public void kill(String functionName) {
    functions.kill(functionName);
  }

  /** Stops everything, the last started first. */
  @Override
  public void close() {
    while (!parts.isEmpty()) {
      try {
        parts.removeLast().close();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      } catch (Exception e) {
        System.getLogger("dev.tollgate.local").log(System.Logger.Level.WARNING, "closing", e);
      }
    }
  }

  private ServiceClient client(String principal) {
    return new ServiceClient(frontDoor.endpoint(), accessKey(principal));
  }

  private ServiceClient client(Principal principal) {
    return new ServiceClient(frontDoor.endpoint(), accessKeys.issue(principal));
  }

  /** Asked only once the stack is up. */
  private boolean isFunction(String name) {
    return catalog.configuration(name).isPresent();
  }

  private boolean expiresEarly(String queue, InstantSource clock) {
    return faults.occursIn(
        FaultKind.QUEUE_EXPIRES_EARLY, queue, clock.instant().truncatedTo(ChronoUnit.MINUTES));
  }

  /** Asked only once the stack is up. */
  private Optional<String> functionOfMapping(String id) {
    return eventSources.functionOf(id);
  }

  private static Optional<Policy> policyOfQueue(QueueEngine queues, String resource) {
    return resource.startsWith("arn:aws:sqs:")
        ? queues
            .policy(resource.substring(resource.lastIndexOf(':') + 1))
            .map(document -> Policy.parse(document, resource))
        : Optional.empty();
  }

  private <T extends AutoCloseable> T opened(T part) {
    parts.addLast(part);
    return part;
  }

  private static Optional<Path> directory(Options options, String name) throws IOException {
    if (options.dataDirectory().isEmpty()) {
      return Optional.empty();
    }
    Path data = options.dataDirectory().get();
    if (Files.notExists(data)) {
      var unused = PrivateFiles.createDirectory(data);
    }
    return Optional.of(PrivateFiles.createDirectory(data.resolve(name)));
  }

  private static Thread daemon(Runnable work) {
    Thread thread = new Thread(work, "lambda-api");
    thread.setDaemon(true);
    return thread;
  }
}
